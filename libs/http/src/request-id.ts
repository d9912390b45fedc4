import { type IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;
/** How tokens begin: those of people and agents, and those of the license service's operators. */
const token = /^(must_(live|test)|mlt)_/;

/**
 * The caller's own `x-request-id` where it is a decent one, else a fresh one: the id is logged and answered, so it must be
 * no token, and no other secret of the service.
 */
export const requestIdOf =
  (isSecret: (text: string) => boolean) =>
  ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
    const given = headers['x-request-id'];
    const isDecent =
      typeof given === 'string' && acceptable.test(given) && !token.test(given) && !isSecret(given);
    return isDecent ? given : newRequestId();
  };

export const newRequestId = (): string => randomUUID();
