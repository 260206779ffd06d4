#!/bin/sh
# The first thing to run on a Mac: nobody has run this program on one yet. It looks whether the program starts, which devices
# work, and whether the processor and the GPU tell the story that Linux tells; then it names the files to send. It reads the
# system's version and the processor's name, and sends nothing itself.
#
# usage: sh first_run.sh [FOLDER FOR THE RESULTS]
set -u

here=$(cd "$(dirname "$0")" && pwd)
program=$here/bin/tokamak
results=${1:-$here/first-run}
log=$results/first_run.txt
port=${TOKAMAK_FIRST_RUN_PORT:-8139}
prompt="Once upon a time"
# By the reference on Linux; every backend is to begin so.
story="Once upon a time, there lived a king who had three sons, and they were very clever boys. One day they sent for the youth, and he gave them a fine horse, which they gave to the King"
failed=0

mkdir -p "$results" || exit 2
: >"$log" || exit 2

# step NAME COMMAND...: runs it with its output in the log.
step() {
  name=$1
  shift
  printf '\n== %s: %s\n' "$name" "$*" >>"$log"
  "$@" >>"$log" 2>&1
  verdict "$name" $?
}

# verdict NAME STATUS
verdict() {
  if [ "$2" = 0 ]; then
    echo "ok      $1" | tee -a "$log"
  else
    echo "FAILED  $1 (status $2)" | tee -a "$log"
    failed=$((failed + 1))
  fi
}

# story_by BACKEND
story_by() {
  printf '\n== story by %s\n' "$1" >>"$log"
  "$program" run --backend "$1" --greedy -n 48 -p "$prompt" >"$results/$1.txt" 2>>"$log"
  status=$?
  cat "$results/$1.txt" >>"$log"
  case $(cat "$results/$1.txt") in
    "$story"*) ;;
    *) [ "$status" != 0 ] || status=1 ;;
  esac
  verdict "story by $1" "$status"
}

# A server answers, streams and ends when it is asked to.
served() {
  "$program" serve --backend cpu --port "$port" 2>"$results/serve.txt" &
  server=$!
  tries=0
  until curl -sf "http://127.0.0.1:$port/health" >/dev/null || [ $tries = 60 ]; do
    tries=$((tries + 1))
    sleep 1
  done
  answer=$(curl -sf "http://127.0.0.1:$port/v1/completions" -H 'Content-Type: application/json' \
    -d "{\"prompt\": \"$prompt\", \"max_tokens\": 8, \"temperature\": 0}")
  kill -TERM $server
  wait $server
  status=$?
  echo "$answer"
  cat "$results/serve.txt"
  case $answer in *"there lived a king"*) return $status ;; esac
  return 1
}

{
  date
  uname -a
  for tool in sw_vers "sysctl -n machdep.cpu.brand_string hw.memsize hw.perflevel0.physicalcpu" "codesign --verify --verbose $program" \
    "otool -L $program"; do
    if command -v "${tool%% *}" >/dev/null; then
      printf '\n== %s\n' "$tool"
      $tool
    fi
  done
} >>"$log" 2>&1
# What a browser fetched is kept from running until its mark is gone.
if command -v xattr >/dev/null; then xattr -dr com.apple.quarantine "$here" >>"$log" 2>&1; fi

step "it starts" "$program" --version
step "devices" "$program" doctor --report "$results/doctor.json"
for backend in cpu-reference cpu ${TOKAMAK_FIRST_RUN_GPU-webgpu}; do story_by "$backend"; done
step "it serves" served

echo
if [ $failed = 0 ]; then
  echo "All of it works here. Please report that, too, with $log and $results/doctor.json."
else
  echo "$failed of these failed. Please report it with everything in $results,"
  echo "and with the newest file named tokamak in ~/Library/Logs/DiagnosticReports, if there is one."
fi
exit $((failed > 0))
