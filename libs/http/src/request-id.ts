import { type IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * The caller's own `x-request-id` where it is a decent one, else a fresh one: the id is logged and answered, so it must be
 * no secret of the service.
 */
export const requestIdOf =
  (isSecret: (text: string) => boolean) =>
  ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
    const given = headers['x-request-id'];
    return typeof given === 'string' && acceptable.test(given) && !isSecret(given) ? given : newRequestId();
  };

export const newRequestId = (): string => randomUUID();
