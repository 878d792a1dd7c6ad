# Sourced by the scripts here: where downloads live, and the few functions that
# more than one of them needs. Nothing is ever written into the tree.
cache=${HMSGATE_CACHE:-$HOME/.cache/hmsgate}
mkdir -p "$cache"

free_port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }

# mvn_quiet ARGS...: Maven with its repository in the cache. One at a time: two
# Mavens that fill one repository spoil each other's files.
mvn_quiet() {
  flock "$cache/mvn.lock" mvn -q -B -Dstyle.color=never -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
    -Dmaven.repo.local="$cache/m2" "$@" >&2
}

# once NAME COMMAND...: run a command that fills the cache, one process at a time.
once() { local name=$1; shift; (flock 9; "$@" 9>&-) 9> "$cache/$name.lock"; }

# venv NAME PACKAGE...: make a virtual environment once, print its folder.
venv() {
  local d="$cache/venv-$1"; shift
  once "$(basename "$d")" make_venv "$d" "$@" || return 1
  echo "$d"
}
make_venv() {
  local d=$1; shift
  [ -e "$d/.ok" ] && return
  rm -rf "$d"
  python3 -m venv "$d" >&2 && "$d/bin/pip" install -q --disable-pip-version-check "$@" >&2 && touch "$d/.ok"
}

# jar GROUP:ARTIFACT:VERSION: fetch one jar once, print its path.
jar() {
  local g a v f
  IFS=: read -r g a v <<<"$1"
  f="$cache/jars/$a-$v.jar"
  if [ ! -s "$f" ]; then
    mvn_quiet org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
      -Dartifact="$g:$a:$v" -DoutputDirectory="$cache/jars" || return 1
  fi
  echo "$f"
}
