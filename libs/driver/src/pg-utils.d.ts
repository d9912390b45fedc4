/** pg exports this module and documents it for drivers built on it, but has no types for it. */
declare module 'pg/lib/utils' {
  const utils: { prepareValue(value: unknown): unknown };
  export default utils;
}
