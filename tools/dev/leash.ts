import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

export interface Leash {
  /** The process ended in an orderly way: nothing is left to do. */
  release(): Promise<void>;
}

// `read` returns when a line comes or when the last writer of the pipe is gone, that is, when we are. State Z is a
// process that has ended but that nobody has collected, which in many containers nobody ever does.
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
 * Ends a child when this process dies without having ended it, `kill -9` included: a shell of one megabyte waits
 * on a pipe of ours, and the system closes that pipe for us whatever we die of. Children are in process groups of
 * their own (Ctrl-C must not reach them before we have decided the order), so nothing else would end them.
 */
export function leash(pid: number, signal: 'TERM' | 'INT' | 'QUIT', folderToRemove = ''): Leash {
  // Windows has no such shell; there the leftovers are cleared by the next start alone.
  if (process.platform === 'win32') return { release: () => Promise.resolve() };
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'muster-leash', pid.toString(), signal, folderToRemove], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const gone = once(watcher, 'exit');
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  // A pipe is a socket in Node: it must not keep a script alive that forgot to stop its services.
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
  return {
    release: async () => {
      watcher.ref();
      watcher.stdin.end('release\n');
      await gone;
    },
  };
}
