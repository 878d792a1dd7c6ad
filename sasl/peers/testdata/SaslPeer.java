// The JDK's own SASL under libthrift, with the callbacks Hive uses, and an echo service.
//   SaslPeer server QOPS KEYTAB PRINCIPAL USER PASSWORD          prints "PORT n"; then a line for each call
//   SaslPeer client GSSAPI     PORT QOP PRINCIPAL KEYTAB SERVICE HOST SIZE...
//   SaslPeer client DIGEST-MD5 PORT QOP USER PASSWORD - - SIZE...
//   SaslPeer client PLAIN      PORT auth USER PASSWORD - - SIZE...
// The server offers GSSAPI for PRINCIPAL and DIGEST-MD5 (null, "default") for USER.
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.*;
import javax.security.auth.Subject;
import javax.security.auth.callback.*;
import javax.security.auth.login.*;
import javax.security.sasl.*;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.TProcessor;
import org.apache.thrift.protocol.*;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.*;

public class SaslPeer {
  public static void main(String[] a) throws Exception {
    if (a[0].equals("server")) server(a); else client(a);
  }

  static Subject login(String principal, String keytab, boolean initiator) throws Exception {
    Map<String, String> o = new HashMap<>();
    for (String s : "useKeyTab storeKey doNotPrompt refreshKrb5Config".split(" ")) o.put(s, "true");
    o.put("keyTab", keytab);
    o.put("principal", principal);
    o.put("isInitiator", String.valueOf(initiator));
    Configuration c = new Configuration() {
      public AppConfigurationEntry[] getAppConfigurationEntry(String n) {
        return new AppConfigurationEntry[] {new AppConfigurationEntry("com.sun.security.auth.module.Krb5LoginModule",
            AppConfigurationEntry.LoginModuleControlFlag.REQUIRED, o)};
      }
    };
    LoginContext lc = new LoginContext("peer", new Subject(), null, c);
    lc.login();
    return lc.getSubject();
  }

  static Map<String, String> props(String qop) {
    Map<String, String> m = new TreeMap<>();
    m.put(Sasl.QOP, qop);
    m.put(Sasl.SERVER_AUTH, "true");
    return m;
  }

  // Hive lets a caller in whose authorization id is its authentication id.
  static void authorize(AuthorizeCallback c) {
    c.setAuthorized(c.getAuthenticationID().equals(c.getAuthorizationID()));
    c.setAuthorizedID(c.getAuthorizationID());
  }

  static CallbackHandler handler(String user, String password) {
    return list -> {
      for (Callback c : list) {
        if (c instanceof NameCallback) ((NameCallback) c).setName(user);
        if (c instanceof PasswordCallback) ((PasswordCallback) c).setPassword(password.toCharArray());
        if (c instanceof RealmCallback) ((RealmCallback) c).setText(((RealmCallback) c).getDefaultText());
        if (c instanceof AuthorizeCallback) authorize((AuthorizeCallback) c);
      }
    };
  }

  static void server(String[] a) throws Exception {
    Subject subject = login(a[3], a[2], false);
    String[] name = a[3].split("[/@]");
    TSaslServerTransport.Factory f = new TSaslServerTransport.Factory();
    f.addServerDefinition("GSSAPI", name[0], name[1], props(a[1]), handler("", ""));
    f.addServerDefinition("DIGEST-MD5", null, "default", props(a[1]), list -> {
      String user = null;
      for (Callback c : list) if (c instanceof NameCallback) user = ((NameCallback) c).getDefaultName();
      for (Callback c : list) {
        if (c instanceof PasswordCallback && a[4].equals(user)) ((PasswordCallback) c).setPassword(a[5].toCharArray());
        if (c instanceof AuthorizeCallback) authorize((AuthorizeCallback) c);
      }
    });
    ServerSocket socket = new ServerSocket();
    socket.bind(new InetSocketAddress("127.0.0.1", 0));
    TTransportFactory tf = new TTransportFactory() {
      public TTransport getTransport(TTransport t) {
        try {
          return Subject.doAs(subject, (PrivilegedExceptionAction<TTransport>) () -> f.getTransport(t));
        } catch (PrivilegedActionException e) {
          throw new RuntimeException(e);
        }
      }
    };
    TThreadPoolServer s = new TThreadPoolServer(new TThreadPoolServer.Args(new TServerSocket(socket)).processor(new Echo())
        .transportFactory(tf).protocolFactory(new TBinaryProtocol.Factory()));
    System.out.println("PORT " + socket.getLocalPort());
    s.serve();
  }

  static class Echo implements TProcessor {
    public void process(TProtocol in, TProtocol out) throws TException {
      TMessage m = in.readMessageBegin();
      String s = argument(in);
      in.readMessageEnd();
      SaslServer ss = ((TSaslServerTransport) in.getTransport()).getSaslServer();
      String who = ss.getMechanismName() + " " + ss.getAuthorizationID() + " " + ss.getNegotiatedProperty(Sasl.QOP);
      write(out, new TMessage(m.name, TMessageType.REPLY, m.seqid), (short) 0, who + "|" + s);
    }
  }

  static String argument(TProtocol in) throws TException {
    String s = "";
    in.readStructBegin();
    for (TField f = in.readFieldBegin(); f.type != TType.STOP; f = in.readFieldBegin()) {
      if (f.type == TType.STRING) s = in.readString(); else TProtocolUtil.skip(in, f.type);
      in.readFieldEnd();
    }
    in.readStructEnd();
    return s;
  }

  static void write(TProtocol out, TMessage m, short id, String s) throws TException {
    out.writeMessageBegin(m);
    out.writeStructBegin(new TStruct("echo"));
    out.writeFieldBegin(new TField("s", TType.STRING, id));
    out.writeString(s);
    out.writeFieldEnd();
    out.writeFieldStop();
    out.writeStructEnd();
    out.writeMessageEnd();
    out.getTransport().flush();
  }

  static void client(String[] a) throws Exception {
    TSocket sock = new TSocket(new TConfiguration(), "127.0.0.1", Integer.parseInt(a[2]), 20000, 20000);
    PrivilegedExceptionAction<Void> act = () -> {
      TSaslClientTransport t = a[1].equals("GSSAPI")
          ? new TSaslClientTransport("GSSAPI", null, a[6], a[7], props(a[3]), null, sock)
          : new TSaslClientTransport(a[1], null, a[1].equals("PLAIN") ? "hive" : null, "default",
              a[1].equals("PLAIN") ? new HashMap<>() : props(a[3]), handler(a[4], a[5]), sock);
      t.open();
      System.out.println("OPEN " + t.getSaslClient().getNegotiatedProperty(Sasl.QOP));
      TBinaryProtocol p = new TBinaryProtocol(t);
      for (int i = 8; i < a.length; i++) {
        char[] c = new char[Integer.parseInt(a[i])];
        Arrays.fill(c, (char) ('a' + i));
        write(p, new TMessage("echo", TMessageType.CALL, i), (short) 1, new String(c));
        TMessage m = p.readMessageBegin();
        String r = argument(p);
        p.readMessageEnd();
        int bar = r.indexOf('|');
        System.out.println("REPLY " + m.seqid + " " + r.substring(0, bar) + " " + r.substring(bar + 1).equals(new String(c)));
      }
      t.close();
      return null;
    };
    try {
      if (a[1].equals("GSSAPI")) Subject.doAs(login(a[4], a[5], true), act); else act.run();
    } catch (PrivilegedActionException e) {
      System.out.println("FAILED " + e.getCause());
    } catch (TException e) {
      System.out.println("FAILED " + e);
    }
  }
}
