import { badRequest } from '@muster/http';
import { machineIdProblem } from './machine.ts';

/**
 * Validators of the fields of a body or query. Each returns a description of the value's problem, or
 * undefined if the value is valid.
 */
type FieldValidators<Name extends string> = Readonly<Record<Name, (value: string) => string | undefined>>;

const emptyProblem = (value: string): string | undefined =>
  value.trim() === '' ? 'must not be empty' : undefined;

/** The fields of activation calls and of trials. */
const activationFields = { licenseKey: emptyProblem, machineId: machineIdProblem };
const trialFields = { machineId: machineIdProblem };

export type ActivationParams = Readonly<Record<keyof typeof activationFields, string>>;

/** Reads string fields and allows no others. Throws 400 with each invalid field. */
function parseStringFields<Name extends string>(
  parameters: unknown,
  fields: FieldValidators<Name>,
): Record<Name, string> {
  const given =
    typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters)
      ? parameters
      : undefined;
  if (given === undefined)
    throw badRequest('The body must be a JSON object.', [{ path: '', message: 'must be an object' }]);
  const names = Object.keys(fields) as Name[];
  const issues: { path: string; message: string }[] = [];
  const texts = names.map((name): [Name, string] => {
    const value: unknown = Object.hasOwn(given, name) ? Reflect.get(given, name) : undefined;
    const message =
      value === undefined
        ? 'is missing'
        : typeof value === 'string'
          ? fields[name](value)
          : 'must be a string';
    if (message !== undefined) issues.push({ path: name, message });
    return [name, typeof value === 'string' ? value : ''];
  });
  for (const name of Object.keys(given)) {
    // The message does not repeat the field's name, because the name may be a key that the caller put there
    // by mistake.
    if (!names.some((one) => one === name))
      issues.push({ path: '', message: `has more fields than ${names.join(' and ')}` });
  }
  if (issues.length > 0) throw badRequest('The parameters are invalid.', issues);
  return Object.fromEntries(texts) as Record<Name, string>;
}

/** Reads the license key and machine ID of a call. Throws 400 with each invalid field. */
export const parseActivationParams = (parameters: unknown): ActivationParams =>
  parseStringFields(parameters, activationFields);

/** Separates the license key and machine ID of a body from its other fields, which another schema checks. */
export function splitActivationParams(body: unknown): { activation: unknown; extra: object } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { activation: body, extra: {} };
  const fields = Object.entries(body);
  const isActivation = ([name]: [string, unknown]): boolean => Object.hasOwn(activationFields, name);
  return {
    activation: Object.fromEntries(fields.filter(isActivation)),
    extra: Object.fromEntries(fields.filter((field) => !isActivation(field))),
  };
}

/** Reads the machine ID of a trial call. Throws 400 if it is invalid. */
export const parseTrialMachineId = (parameters: unknown): string =>
  parseStringFields(parameters, trialFields).machineId;

/**
 * Throws 400 if the query of a request target is not UTF-8. The parser keeps invalid escapes as text, so `%ff` and
 * `%25ff` would otherwise name the same machine.
 */
export function requireUtf8Query(requestTarget: string): void {
  const query = requestTarget.slice(requestTarget.indexOf('?') + 1);
  const escaped = query
    .replace(/[\u0080-\uffff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
    // A percent sign that does not start an escape is a literal.
    .replace(/%(?![0-9a-f]{2})/gi, '%25');
  try {
    decodeURIComponent(escaped);
  } catch {
    throw badRequest('The query must be UTF-8.', [{ path: '', message: 'must be valid UTF-8' }]);
  }
}
