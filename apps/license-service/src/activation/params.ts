import { badRequest } from '@muster/http';
import { machineIdProblem } from './machine.ts';

/** The fields of a body or a query, each with what is wrong with a text of it. */
type Fields<Name extends string> = Readonly<Record<Name, (value: string) => string | undefined>>;

const emptyProblem = (value: string): string | undefined =>
  value.trim() === '' ? 'must not be empty' : undefined;

/** Of the paths that ask with a key, and of trials. */
const ofLicense = { licenseKey: emptyProblem, machineId: machineIdProblem };
const ofTrial = { machineId: machineIdProblem };

export type Params = Readonly<Record<keyof typeof ofLicense, string>>;

/** The texts of a body or a query, and nothing beside them. Throws 400 with each field that does not fit. */
function readFields<Name extends string>(source: unknown, fields: Fields<Name>): Record<Name, string> {
  const given = typeof source === 'object' && source !== null && !Array.isArray(source) ? source : undefined;
  if (given === undefined) {
    throw badRequest('The body must be a JSON object.', [{ path: '', message: 'must be an object' }]);
  }
  const names = Object.keys(fields) as Name[];
  const issues: { path: string; message: string }[] = [];
  const texts = names.map((name): [Name, string] => {
    const value: unknown = Object.hasOwn(given, name) ? Reflect.get(given, name) : undefined;
    const message =
      value === undefined ? 'is missing' : typeof value === 'string' ? fields[name](value) : 'must be a text';
    if (message !== undefined) issues.push({ path: name, message });
    return [name, typeof value === 'string' ? value : ''];
  });
  for (const name of Object.keys(given)) {
    // The name may be anything, a key that a caller put in the wrong place too.
    if (!names.some((one) => one === name))
      issues.push({ path: '', message: `has more than ${names.join(' and ')}` });
  }
  if (issues.length > 0) throw badRequest('The parameters do not fit.', issues);
  return Object.fromEntries(texts) as Record<Name, string>;
}

/** The two parameters of the paths that ask with a key. Throws 400 with each field that does not fit. */
export const readParams = (source: unknown): Params => readFields(source, ofLicense);

/** The machine that a trial is asked for. Throws 400 where it does not fit. */
export const readMachine = (source: unknown): string => readFields(source, ofTrial).machineId;

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
