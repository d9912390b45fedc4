/** JSON lines on standard output, gathered and written apart from the requests. */
import { isTracing, traceId } from '@muster/tracing';
import { pino, type Logger } from 'pino';
import { onTracingFault } from './tracing.ts';

/** Never in a line, wherever they stand. */
const secrets = [
  'req.headers.authorization',
  'headers.authorization',
  'token',
  '*.token',
  'password',
  '*.password',
];

/** Mail servers quote the address that they refuse. */
const address = /[^\s<>"'(),:;=]+@[^\s<>"'(),:;=]+/g;
const withoutAddresses = (text: string): string => text.replaceAll(address, '[address]');

/** Causes that cause one another are followed no further. */
const mostCauses = 5;

/**
 * Of an error where it happened and what it is called. Not what else it carries: libraries hang the row, the answer or the
 * recipient on it.
 */
function errorForLog(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? error.code : undefined;
  return {
    type: name,
    message: withoutAddresses(message),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(stack !== undefined && { stack: withoutAddresses(stack) }),
    ...(cause !== undefined && depth < mostCauses && { cause: errorForLog(cause, depth + 1) }),
    ...(error instanceof AggregateError &&
      depth < mostCauses && { errors: error.errors.map((one: unknown) => errorForLog(one, depth + 1)) }),
  };
}

export function createLogger(name: string, level: string): Logger {
  const logger = pino(
    {
      name,
      level,
      redact: { paths: secrets, censor: '[secret]' },
      serializers: { err: (error: unknown) => errorForLog(error) },
      ...(isTracing() && { mixin: () => ({ traceId: traceId() }) }),
    },
    pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 500 }),
  );
  onTracingFault((error) => {
    logger.warn({ err: error }, 'spans could not be delivered');
  });
  return logger;
}
