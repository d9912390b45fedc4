/** Whether the system failed with this code; by its looks, since an error may be of another realm's Error. */
export const isSystemError = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;
