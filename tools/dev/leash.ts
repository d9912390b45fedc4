import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

export interface Watchdog {
  /** Ends the watch, because the process has ended normally. */
  release(): Promise<void>;
}

// The script that watches the pipe. `read` returns when a line arrives or when the last writer is gone, which
// means that this process is gone.
// State Z is a zombie: a process that has ended but that no parent has collected, as in many containers.
const WATCH = `
read -r word
[ "$word" = release ] && exit 0
kill -s "$2" "$1"
tries=0
while kill -0 "$1" 2>/dev/null; do
  case "$(cat "/proc/$1/stat" 2>/dev/null)" in *") Z "*) break ;; esac
  tries=$((tries + 1))
  [ "$tries" -gt 150 ] && kill -s KILL "$1" && break
  sleep 0.1
done
[ -n "$3" ] && rm -rf "$3"
`;

/**
 * Ends a child when this process dies without having ended it, even by `kill -9`. A small shell waits on a
 * pipe of this process, which the system closes in any case.
 * Children are in their own process groups, because Ctrl-C must not reach them before this process has
 * decided the order. Nothing else would end them.
 */
export function leash(pid: number, signal: 'TERM' | 'INT' | 'QUIT', folderToRemove = ''): Watchdog {
  // Windows has no such shell. Only the next start cleans up there.
  if (process.platform === 'win32') return { release: () => Promise.resolve() };
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'muster-leash', pid.toString(), signal, folderToRemove], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const gone = once(watcher, 'exit');
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  // The pipe, which is a socket in Node, must not keep a script alive that forgot to stop its services.
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
  return {
    release: async () => {
      watcher.ref();
      watcher.stdin.end('release\n');
      await gone;
    },
  };
}
