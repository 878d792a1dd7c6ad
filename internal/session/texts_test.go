package session

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"hmsgate/frame"
)

// replayWords are what makes a client send a call again: Apache Hive's
// RetryingMetaStoreClient matches (JDO...|TProtocol|TTransport)Exception in a
// MetaException's text, older ones and Spark's HiveClientImpl look for
// TApplicationException too, Iceberg's HiveClientPool for "Got exception:".
var replayWords = regexp.MustCompile(`(?i)JDO[a-zA-Z]*Exception|TProtocol|TTransport|TApplication|Got exception`)

func noReplayWords(t testing.TB, text string) {
	t.Helper()
	if w := replayWords.FindString(text); w != "" {
		t.Errorf("text %q holds %q, upon which clients replay the call", text, w)
	}
}

func TestTextsHoldNoWordUponWhichClientsReplay(t *testing.T) {
	texts := []string{
		textNameless, textUnreachable("apache"), textLostRead("get_table", "apache"), textUnknown("drop_table", "apache"),
		textTimeout("get_table", "apache", time.Second), textTimeoutWrite("drop_table", "apache", time.Second),
		textMessageType(frame.Oneway), textTooLarge(64 << 20), textTooLong(1, frame.ErrTooLong), textBusy("too many clients (limits.connections)"),
		textNobody("hdp"), textReplyTooLarge("get_table", "frame limit", 16384000, "limits.frame-bytes"), textUnread(""), textFrameTooLarge(1), textShareTooLarge("get_databases", "hdp"),
	}
	for _, err := range []error{frame.ErrNotThrift, frame.ErrOldHeader, frame.ErrBadType, frame.ErrNegative,
		frame.ErrTooDeep, frame.ErrTooLong, frame.ErrFrameSize, frame.ErrDuplicate, frame.ErrFull, frame.ErrBudget,
		errReply, &tooLarge{"x"}, errors.New("x")} {
		texts = append(texts, textNonsense(fmt.Errorf("get_table args.1: %w", err)))
	}
	for _, s := range texts {
		noReplayWords(t, s)
		if s == "" {
			t.Error("got an empty text")
		}
	}
	if replayWords.FindString("Got exception: org.apache.thrift.transport.TTransportException") == "" {
		t.Error("the pattern of this test finds nothing")
	}

}
