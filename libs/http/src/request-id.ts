import { type IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;
/**
 * Matches the beginning of tokens: those of members and agents, and those of operators of the license
 * service.
 */
const tokenPrefixPattern = /^(must_(live|test)|mlt)_/;

/**
 * Returns the caller's own `x-request-id` if it is acceptable, else a new id. The id is logged and returned,
 * so it must be neither a token nor another secret of the service.
 */
export const requestIdOf =
  (isSecret: (text: string) => boolean) =>
  ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
    const given = headers['x-request-id'];
    const isDecent =
      typeof given === 'string' &&
      requestIdPattern.test(given) &&
      !tokenPrefixPattern.test(given) &&
      !isSecret(given);
    return isDecent ? given : newRequestId();
  };

export const newRequestId = (): string => randomUUID();
