# shellcheck shell=bash disable=SC2154
# Sourced by dev: the site, built and given out to a browser on this machine, or written for any other host.

site=$root/web/site/dist

# A folder that is empty, new, or has an earlier site in it: nothing else is written over.
site_may_go_to() {
  [ ! -e "$1" ] || [ -d "$1" ] || usage_error "\"$1\" is no folder."
  [ ! -d "$1" ] || [ -f "$1/sw.js" ] || [ -z "$(ls -A "$1")" ] ||
    fail "\"$1\" has other files in it; ./dev web --build takes an empty or a new folder."
}

build_site() {
  setup check
  logged "npm could not install the tools of web/; is the network there?" npm_packages
  configure wasm
  compile wasm tokamak_web_modules
  say "building the site"
  logged "The site could not be built" npm --prefix "$root/web" run build
}

# run_web [--port N | --build DIR]
run_web() {
  local port=8017 folder=
  while [ $# -gt 0 ]; do
    case $1 in
      --port | --build) [ $# -gt 1 ] || usage_error "$1 of ./dev web needs a value." ;;
    esac
    case $1 in
      --port) port=$2 ;;
      --build) folder=$2 ;;
      *) usage_error "Unknown argument \"$1\" of ./dev web; it takes --port N or --build DIR." ;;
    esac
    shift 2
  done
  [[ $port =~ ^[1-9][0-9]{0,4}$ ]] && [ "$port" -le 65535 ] ||
    usage_error "\"$port\" is no port for ./dev web; expected one from 1 to 65535."
  [ -z "$folder" ] || site_may_go_to "$folder"
  build_site
  if [ -n "$dry_run" ]; then
    if [ -n "$folder" ]; then
      say "would write the site to $folder"
    else
      say "would run: tools/dev/serve.py web/site/dist --port $port"
    fi
  elif [ -n "$folder" ]; then
    mkdir -p "$folder"
    cp -R "$site/." "$folder/"
    say "$folder has the site: any host of plain files can give it out"
  else
    exec python3 "$root/tools/dev/serve.py" "$site" --port "$port"
  fi
}
