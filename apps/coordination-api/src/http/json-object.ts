import { malformedRequest } from '@muster/contract';

export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the body of a request. Throws 400 unless it is an object. */
export function requireJsonObject(body: unknown): Record<string, unknown> {
  if (!isJsonObject(body)) throw malformedRequest('invalid_json', 'The body must be a JSON object.');
  return body;
}
