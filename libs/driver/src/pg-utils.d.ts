/** Types for a pg module that pg exports and documents for drivers built on it, but does not declare. */
declare module 'pg/lib/utils' {
  const utils: { prepareValue(value: unknown): unknown };
  export default utils;
}
