import { MusterError } from '@muster/client';

/** The error object that a call is refused with; whatever else becomes of it is thrown. */
export async function refusalOf(call: Promise<unknown>): Promise<MusterError['body']> {
  const error: unknown = await call.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (error instanceof MusterError) return error.body;
  throw error;
}
