include "base.thrift"

service More extends base.Base {
  base.Pair more(1: Pair p);
}

struct Pair2 { 1: base.Pair pair }

typedef base.Pair Pair
