/** JSON lines on standard output, gathered and written apart from the requests. */
import { pino, type Logger } from 'pino';

/** Never in a line, wherever they stand. */
const secrets = [
  'req.headers.authorization',
  'headers.authorization',
  'token',
  '*.token',
  'password',
  '*.password',
];

export function createLogger(name: string, level: string): Logger {
  return pino(
    { name, level, redact: { paths: secrets, censor: '[secret]' } },
    pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 500 }),
  );
}
