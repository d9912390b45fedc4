/** The options --feature and --drop-feature, and the command that changes the features of a sold license. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Feature, featureNamePattern, type LicenseFeatures, OwnFeatures } from '../features.ts';
import { setFeatures } from '../operators/change.ts';
import { inTransaction, RefusedError } from '../operators/transaction.ts';
import { type LicenseCommand, type CommandOptions, readLicenseRef, addIdOption } from './command.ts';
import { licenseOutput } from './shown.ts';

type NamedFeature = readonly [string, Feature];

function parseFeatureOption(optionText: string): NamedFeature {
  const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(optionText) ?? [];
  if (featureNamePattern.test(name)) {
    if (value === undefined || value === 'on') return [name, true];
    if (value === 'off') return [name, false];
    if (/^\d{1,9}$/.test(value)) return [name, Number(value)];
  }
  throw new InvalidArgumentError('It must be a name in lower case, optionally with =on, =off or a number.');
}

/** Collects the values of a repeated option, which Commander passes one by one. */
export const collectOption =
  <One>(parse: (text: string) => One) =>
  (text: string, before: readonly One[] | undefined): readonly One[] => [...(before ?? []), parse(text)];

export const addFeatureOption = (command: Command): Command =>
  command.option(
    '--feature <feature>',
    'a feature of the license: export, seats=5, api=off; repeatable',
    collectOption(parseFeatureOption),
  );

export const addFeatureOptions = (command: Command): Command =>
  addFeatureOption(command).option(
    '--drop-feature <name>',
    "remove the license's own value of this feature; repeatable",
    collectOption(String),
  );

export const listOption = (options: CommandOptions, name: string): readonly unknown[] => {
  const value = options[name];
  return Array.isArray(value) ? (value as unknown[]) : [];
};

/** Adds and removes features of a license as the options say. `before` are its present features. */
export function applyFeatureOptions(
  options: CommandOptions,
  currentFeatures: LicenseFeatures = {},
): LicenseFeatures {
  const dropped = listOption(options, 'dropFeature');
  const features = OwnFeatures.safeParse({
    ...Object.fromEntries(Object.entries(currentFeatures).filter(([name]) => !dropped.includes(name))),
    ...Object.fromEntries(listOption(options, 'feature') as readonly NamedFeature[]),
  });
  if (features.success) return features.data;
  throw new RefusedError('features', features.error.issues[0]?.message ?? 'these features are invalid');
}

export const entitleCommand: LicenseCommand = {
  name: 'entitle',
  description:
    "Give a license its own features, in addition to its plan's; machines get them with their next certificate",
  configure: (it) => addFeatureOptions(addIdOption(it)),
  run: async (context, options) => {
    if (options['feature'] === undefined && options['dropFeature'] === undefined)
      throw new RefusedError('no_features', 'give --feature or --drop-feature');
    const ref = await readLicenseRef(context, options);
    return licenseOutput(
      await inTransaction(context.pool, (db) =>
        setFeatures(db, ref, (own) => applyFeatureOptions(options, own)),
      ),
    );
  },
};
