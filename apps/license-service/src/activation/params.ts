import { badRequest } from '@muster/http';
import { machineIdProblem } from './machine.ts';

export interface Params {
  readonly licenseKey: string;
  readonly machineId: string;
}

const fields: readonly string[] = ['licenseKey', 'machineId'];

/** The two parameters of every path here, from a body or a query. Throws 400 with each field that does not fit. */
export function readParams(source: unknown): Params {
  const given = typeof source === 'object' && source !== null && !Array.isArray(source) ? source : undefined;
  if (given === undefined) {
    throw badRequest('The body must be a JSON object.', [{ path: '', message: 'must be an object' }]);
  }
  const issues: { path: string; message: string }[] = [];
  const text = (name: string, problem: (value: string) => string | undefined): string => {
    const value: unknown = Object.hasOwn(given, name) ? Reflect.get(given, name) : undefined;
    const message =
      value === undefined ? 'is missing' : typeof value === 'string' ? problem(value) : 'must be a text';
    if (message !== undefined) issues.push({ path: name, message });
    return typeof value === 'string' ? value : '';
  };
  const params = {
    licenseKey: text('licenseKey', (value) => (value.trim() === '' ? 'must not be empty' : undefined)),
    machineId: text('machineId', machineIdProblem),
  };
  for (const name of Object.keys(given)) {
    // The name may be anything, a key that somebody put in the wrong place too.
    if (!fields.includes(name)) issues.push({ path: '', message: 'has more than licenseKey and machineId' });
  }
  if (issues.length > 0) throw badRequest('The parameters do not fit.', issues);
  return params;
}

/**
 * The query of a target. Throws 400 where its bytes are no UTF-8: the parser leaves such an escape as it stands, and
 * then `%ff` and `%25ff` would be one machine.
 */
export function requireUtf8Query(target: string): void {
  const query = target.slice(target.indexOf('?') + 1);
  const escaped = query
    .replace(/[\u0080-\uffff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
    // A percent sign that begins no escape is one.
    .replace(/%(?![0-9a-f]{2})/gi, '%25');
  try {
    decodeURIComponent(escaped);
  } catch {
    throw badRequest('The query must be UTF-8.', [{ path: '', message: 'is no valid UTF-8' }]);
  }
}
