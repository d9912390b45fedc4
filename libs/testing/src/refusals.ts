import { MusterError } from '@muster/client-core';

/** Returns the error object of a rejected call. Throws any other error, and an error if the call succeeds. */
export async function refusalOf(call: Promise<unknown>): Promise<MusterError['body']> {
  const error: unknown = await call.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (error instanceof MusterError) return error.body;
  throw error;
}
