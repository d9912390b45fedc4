/**
 * Returns true if the system failed with this code. It checks the shape, because the error may be an instance
 * of another realm's Error.
 */
export const isSystemError = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;
