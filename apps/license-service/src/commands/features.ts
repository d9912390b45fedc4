/** The options --feature and --drop-feature, and the command that changes the features of a sold license. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Feature, featureName, type LicenseFeatures, OwnFeatures } from '../features.ts';
import { entitle } from '../operators/change.ts';
import { inTransaction, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, type Options, refOf, withId } from './command.ts';
import { shownLicense } from './shown.ts';

type Named = readonly [string, Feature];

function toFeature(given: string): Named {
  const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(given) ?? [];
  if (featureName.test(name)) {
    if (value === undefined || value === 'on') return [name, true];
    if (value === 'off') return [name, false];
    if (/^\d{1,9}$/.test(value)) return [name, Number(value)];
  }
  throw new InvalidArgumentError('It must be a name in lower case, optionally with =on, =off or a number.');
}

/** Collects the values of a repeated option, which Commander passes one by one. */
const gather =
  <One>(read: (text: string) => One) =>
  (text: string, before: readonly One[] | undefined): readonly One[] => [...(before ?? []), read(text)];

export const withFeature = (command: Command): Command =>
  command.option(
    '--feature <feature>',
    'a feature of the license: export, seats=5, api=off; repeatable',
    gather(toFeature),
  );

export const withFeatures = (command: Command): Command =>
  withFeature(command).option(
    '--drop-feature <name>',
    "remove the license's own value of this feature; repeatable",
    gather(String),
  );

const listOf = (options: Options, name: string): readonly unknown[] => {
  const value = options[name];
  return Array.isArray(value) ? (value as unknown[]) : [];
};

/** Adds and removes features of a license as the options say. `before` are its present features. */
export function featuresOf(options: Options, before: LicenseFeatures = {}): LicenseFeatures {
  const dropped = listOf(options, 'dropFeature');
  const features = OwnFeatures.safeParse({
    ...Object.fromEntries(Object.entries(before).filter(([name]) => !dropped.includes(name))),
    ...Object.fromEntries(listOf(options, 'feature') as readonly Named[]),
  });
  if (features.success) return features.data;
  throw new Refused('features', features.error.issues[0]?.message ?? 'these features are invalid');
}

export const entitleCommand: LicenseCommand = {
  name: 'entitle',
  description:
    "Give a license its own features, in addition to its plan's; machines get them with their next certificate",
  shape: (it) => withFeatures(withId(it)),
  run: async (context, options) => {
    if (options['feature'] === undefined && options['dropFeature'] === undefined)
      throw new Refused('no_features', 'give --feature or --drop-feature');
    const ref = await refOf(context, options);
    return shownLicense(
      await inTransaction(context.pool, (db) => entitle(db, ref, (own) => featuresOf(options, own))),
    );
  },
};
