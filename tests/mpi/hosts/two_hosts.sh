#!/usr/bin/env bash
# tests/mpi/hosts/two_hosts.sh MPIRUN STAGE05_MPI COMPARE_CHECKPOINTS MAKE_DATASET: stage 05 on two hosts
# that are one machine.
#
# A host is a network namespace with a host name of its own; a pair of virtual Ethernet devices is the
# cable. Open MPI sees two hosts, which reach one another by TCP only. Where mpirun would use ssh, it is
# given a script that enters the other namespace. Needs root.
set -euo pipefail

if [[ $# -ne 4 ]]; then
  echo "two_hosts.sh: expected MPIRUN STAGE05_MPI COMPARE_CHECKPOINTS MAKE_DATASET" >&2
  exit 2
fi
readonly mpirun=$1 compare_checkpoints=$3 make_dataset=$4
stage05=$(realpath "$2")
readonly stage05

readonly first=stagewise-a-$$ second=stagewise-b-$$ # names of namespaces, and of hosts
readonly network=10.77.0.0/24                       # nobody outside of the two sees it
readonly limit=30                                   # seconds for a training that should take one
readonly limit_of_failure=10                        # seconds until a failure must have ended everything

# An uneven share for each rank, and gradients of more than TCP sends at once (65,536 bytes).
readonly training=(train --train-limit 509 --test-limit 101 --hidden 37 --batch-size 50)

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export STAGEWISE_CPU_WORKERS=1

# --------------------------------------------------------------------------------------------------
# The two hosts

skip() {
  echo "Skipped: $1"
  exit 0
}

# Prints the processes of a host, one a line.
processes_on() {
  ip netns pids "$1" 2>/dev/null || true
}

clean_up() {
  local host pid
  for host in "$first" "$second"; do
    for pid in $(processes_on "$host"); do
      kill -KILL "$pid" 2>/dev/null || true
    done
    ip netns delete "$host" 2>/dev/null || true # takes its end of the cable with it
  done
  rm -rf "$folder"
}

[[ $(id -u) -eq 0 ]] || skip "only root may make network namespaces."
type -P ip >/dev/null || skip "there is no ip (sudo apt install iproute2)."
type -P unshare >/dev/null || skip "there is no unshare (sudo apt install util-linux)."
type -P "$mpirun" >/dev/null || skip "there is no mpirun (sudo apt install openmpi-bin)."
version=$("$mpirun" --version 2>&1 || true)
[[ $version =~ ^[a-z]+\ \((Open MPI|OpenRTE)\)\ 4\. ]] ||
  skip "the options are those of Open MPI 4, but this is ${version%%$'\n'*}."
if information=$("$stage05" info 2>&1); [[ $information == *"no GPU can be used here"* ]]; then
  skip "no GPU can be used here."
fi

folder=$(mktemp --directory)
readonly folder
export TMPDIR=$folder # for what mpirun leaves behind
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

{
  ip netns add "$first" && ip netns add "$second" && unshare --uts true
} 2>"$folder/reason" || skip "there is no right to make namespaces ($(head -n 1 "$folder/reason"))."
ip link add veth0 netns "$first" type veth peer name veth0 netns "$second" 2>"$folder/reason" ||
  skip "there are no virtual Ethernet devices ($(head -n 1 "$folder/reason"))."
ip -n "$first" address add 10.77.0.1/24 dev veth0
ip -n "$second" address add 10.77.0.2/24 dev veth0
for host in "$first" "$second"; do
  ip -n "$host" link set lo up
  ip -n "$host" link set veth0 up
  mkdir -p "$folder/$host"
  echo "$host slots=2" >>"$folder/hosts"
done

# enter HOST COMMAND: as ssh does, joins the words and has a shell there read them. Each host has a
# folder of data sets of its own.
cat >"$folder/enter" <<SCRIPT
#!/usr/bin/env bash
host=\$1
shift
export STAGEWISE_DATA_DIR=$(printf '%q' "$folder")/\$host
exec ip netns exec "\$host" unshare --uts bash -c "hostname \$host && \$*"
SCRIPT
chmod +x "$folder/enter"

# --------------------------------------------------------------------------------------------------
# What is run, and what is expected

failures=0

# expected WHAT [FILE]: a check has failed; FILE holds what there was instead.
expected() {
  failures=$((failures + 1))
  echo "FAILED: expected $1"
  [[ $# -lt 2 ]] || sed 's/^/    | /' "$2"
}

# run SECONDS OUTPUT HOSTS RANKS ARGUMENT...: stage 05 on one or two hosts; OUTPUT receives what it says.
# 124 or 137: it took longer.
run() {
  local seconds=$1 output=$2 hosts=$3 ranks=$4
  shift 4
  local words=("$mpirun" -n "$ranks" --bind-to none --mca mpi_yield_when_idle 1)
  if [[ $hosts -eq 1 ]]; then
    words+=(--host "$first:$ranks")
  else
    words+=(--hostfile "$folder/hosts" --mca plm_rsh_agent "$folder/enter" --mca btl "tcp,self"
      --mca btl_tcp_if_include "$network" --mca oob_tcp_if_include "$network")
  fi
  timeout --kill-after=5 "$seconds" "$folder/enter" "$first" exec "$(printf '%q ' "${words[@]}" "$stage05" "$@")" \
    </dev/null >"$output" 2>&1
}

# After a failure.
expect_nobody_left() {
  local host attempt left=''
  for attempt in {1..20}; do # the daemons may take a moment to end
    left=''
    for host in "$first" "$second"; do left+=$(processes_on "$host"); done
    [[ -n $left ]] || return 0
    [[ $attempt -eq 20 ]] || sleep 0.1
  done
  for host in "$first" "$second"; do
    for pid in $(processes_on "$host"); do
      echo "$host: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" || true)"
    done
  done >"$folder/left"
  expected "no process to be left $1, but 2 seconds later there were" "$folder/left"
}

# trains_the_same RANKS STRATEGY: on two hosts as on one, bit for bit.
trains_the_same() {
  local ranks=$1 strategy=$2 hosts name line
  for hosts in 1 2; do
    name=$folder/$strategy-$ranks-$hosts
    if ! run "$limit" "$name.txt" "$hosts" "$ranks" "${training[@]}" --epochs 2 --strategy "$strategy" \
      --save "$name.h5"; then
      expected "$ranks ranks on $hosts host(s) to train with --strategy $strategy in $limit s" "$name.txt"
      return
    fi
    line="ranks  $ranks processes on $hosts host"
    [[ $hosts -eq 1 ]] || line+=s
    grep -q "^$line, " "$name.txt" || expected "the line '$line, ...'" "$name.txt"
  done
  name=$folder/$strategy-$ranks
  if ! "$compare_checkpoints" --tolerance 0 "$name-1.h5" "$name-2.h5" >"$name.txt" 2>&1; then
    expected "$ranks ranks on 2 hosts to train the same as on 1 with --strategy $strategy" "$name.txt"
  fi
}

# A rank of the second host is killed in the midst of a training.
ends_when_a_rank_is_killed() {
  local output=$folder/killed.txt job pid victim='' begin status=0
  run $((2 * limit)) "$output" 2 4 "${training[@]}" --epochs 100000 &
  job=$!
  for ((begin = SECONDS; SECONDS - begin < limit;)); do
    sleep 0.1
    ! grep -q '^epoch 3/' "$output" || break
    kill -0 "$job" 2>/dev/null || break
  done
  for pid in $(processes_on "$second"); do
    [[ $(readlink "/proc/$pid/exe") != "$stage05" ]] || victim=$pid
  done
  if [[ -z $victim ]] || ! grep -q '^epoch 3/' "$output"; then
    expected "a training on both hosts to be in its third epoch after $limit s" "$output"
    exit 1 # and clean up, which ends the training
  fi
  kill -KILL "$victim"
  begin=$SECONDS
  wait "$job" || status=$?
  if [[ $status -eq 0 ]] || [[ $((SECONDS - begin)) -gt $limit_of_failure ]]; then
    expected "mpirun to end with another code than 0 within $limit_of_failure s after a rank was killed;
    it ended with $status after $((SECONDS - begin)) s" "$output"
  fi
  grep -Eq 'signal 9 \(Killed\)|unexpectedly disconnected' "$output" || # whoever notices first
    expected "a sentence of Open MPI that a rank was killed" "$output"
  ! grep -q '^test ' "$output" || expected "the training not to come to its end" "$output"
  expect_nobody_left "after a rank was killed"
}

# First both hosts have the data, then only the first one.
ends_when_data_are_missing() {
  local host from status begin seconds output=$folder/missing.txt
  local reading=(train --dataset mnist --hidden 8 --batch-size 10 --epochs 1 --data-from)
  for host in "$first" "$second"; do
    "$make_dataset" --train 50 --test 20 --format idx --output "$folder/$host/mnist" >/dev/null
  done
  begin=$SECONDS
  if ! run "$limit" "$output" 2 4 "${reading[@]}" all --save "$folder/all.h5"; then
    expected "a training where every rank reads its host's data" "$output"
  fi
  seconds=$((SECONDS - begin + limit_of_failure)) # starting the ranks takes its time, too

  rm -r "$folder/$second/mnist"
  for from in root auto; do
    if ! run "$limit" "$output" 2 4 "${reading[@]}" "$from" --save "$folder/$from.h5"; then
      expected "a training with --data-from $from where only the first host has the data" "$output"
    fi
    if ! "$compare_checkpoints" --tolerance 0 "$folder/all.h5" "$folder/$from.h5" >"$output" 2>&1; then
      expected "--data-from $from to train the same as --data-from all" "$output"
    fi
  done

  status=0
  run "$seconds" "$output" 2 4 "${reading[@]}" all || status=$?
  case $status in
    0 | 124 | 137)
      expected "another exit code than 0 within $seconds s where the second host has no data; it was $status
    (124 and 137: it had to be stopped)" "$output"
      ;;
  esac
  grep -q '^stage05_mpi: rank [23]: the data set mnist needs the file .*, which is not there' "$output" ||
    expected "the sentence 'stage05_mpi: rank 2: the data set mnist needs the file ...' (or rank 3)" "$output"
  expect_nobody_left "where the second host has no data"
}

# check WHAT COMMAND...: prints whether WHAT held, and how long that took.
check() {
  local what=$1 before=$failures begin=$EPOCHREALTIME verdict=passed
  shift
  "$@"
  [[ $failures -eq $before ]] || verdict=FAILED
  printf '%-6s  %4d ms  %s\n' "$verdict" $(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 1000)) "$what"
}

for strategy in data tensor; do
  for ranks in 4 3; do
    check "$ranks ranks train the same on 2 hosts as on 1, --strategy $strategy" trains_the_same "$ranks" "$strategy"
  done
done
check "a rank that is killed ends the job on both hosts" ends_when_a_rank_is_killed
check "data that one host lacks end the job with a sentence" ends_when_data_are_missing

echo "$failures checks failed."
[[ $failures -eq 0 ]]
