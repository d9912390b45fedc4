/** Writes JSON lines to standard output, buffered and independent of requests. */
import { isTracing, traceId } from '@muster/tracing';
import { pino, type Logger } from 'pino';
import { setTracingFaultListener } from './tracing.ts';

/** The paths of secrets, which are removed from every line. */
const redactedPaths = [
  'req.headers.authorization',
  'headers.authorization',
  'token',
  '*.token',
  'password',
  '*.password',
];

/** Matches e-mail addresses, since mail servers quote an address that they refuse. */
const emailPattern = /[^\s<>"'(),:;=]+@[^\s<>"'(),:;=]+/g;
const redactEmails = (text: string): string => text.replaceAll(emailPattern, '[address]');

/** The maximum depth of nested causes, which also ends cycles. */
const maxCauseDepth = 5;

/**
 * Reduces an error to its name, code and stack. Other properties are dropped, since libraries attach the row,
 * the response or the recipient.
 */
function errorForLog(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? error.code : undefined;
  return {
    type: name,
    message: redactEmails(message),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(stack !== undefined && { stack: redactEmails(stack) }),
    ...(cause !== undefined && depth < maxCauseDepth && { cause: errorForLog(cause, depth + 1) }),
    ...(error instanceof AggregateError &&
      depth < maxCauseDepth && { errors: error.errors.map((one: unknown) => errorForLog(one, depth + 1)) }),
  };
}

export function createLogger(name: string, level: string): Logger {
  const logger = pino(
    {
      name,
      level,
      redact: { paths: redactedPaths, censor: '[secret]' },
      serializers: { err: (error: unknown) => errorForLog(error) },
      ...(isTracing() && { mixin: () => ({ traceId: traceId() }) }),
    },
    pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 500 }),
  );
  setTracingFaultListener((error) => {
    logger.warn({ err: error }, 'trace spans could not be delivered');
  });
  return logger;
}
