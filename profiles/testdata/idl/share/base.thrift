struct Pair { 1: string key, 2: string value }

enum base_status { DEAD = 0, ALIVE = 2 }

service Base {
  string getName()
  base_status getStatus(),
}
