/** Names as models write them: of parameters, of values in a list of them, and ids with what stands around them. */
import { type Answer } from '../answers/answers.ts';
import { type JsonSchema } from '../tools/schemas.ts';

/** `In Progress`, `in-progress` and `IN_PROGRESS` are one. */
const letters = (name: string): string => name.replaceAll(/[\s_-]/g, '').toLowerCase();

const onlyOne = <Value>(values: readonly Value[]): Value | undefined =>
  values.length === 1 ? values[0] : undefined;

/** A shorter beginning of a name may mean anything. */
const minBeginning = 4;

/** The value that the text names or begins, in any case, such as `approve` for `approved`; undefined unless it is exactly one. */
export function valueNamed(text: string, values: readonly unknown[]): unknown {
  if (values.includes(text)) return text;
  const wanted = letters(text);
  const texts = values.filter((value) => typeof value === 'string');
  const equal = onlyOne(texts.filter((value) => letters(value) === wanted));
  if (equal !== undefined || wanted.length < minBeginning) return equal;
  return onlyOne(texts.filter((value) => letters(value).startsWith(wanted)));
}

/** The parameter that `story_id` or `StoryID` means, if there is one and it is not given itself. */
export function nameMeant(
  given: string,
  properties: Readonly<Record<string, JsonSchema>>,
  all: Answer,
): string {
  if (Object.hasOwn(properties, given)) return given;
  const alike = (name: string): boolean => letters(name) === letters(given);
  const name = onlyOne(Object.keys(properties).filter(alike));
  return name === undefined || Object.keys(all).filter(alike).length > 1 ? given : name;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Ids, keys and times have no whitespace around them, and ids no capitals. Other texts are as they came. */
export function textMeant({ format, pattern, 'x-muster-ref': ref }: JsonSchema, text: string): string {
  if (format === undefined && pattern === undefined && ref === undefined) return text;
  const bare = text.trim();
  return uuid.test(bare) ? bare.toLowerCase() : bare;
}
