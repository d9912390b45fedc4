/** What a license lets its holder do: names that are on or off, or a number of something. */
import { z } from 'zod';

export type Feature = boolean | number;

const mostFeatures = 32;
const longestName = 32;

export const featureName = new RegExp(`^[a-z][a-z0-9_-]{0,${longestName - 1}}$`);

/** As a certificate has them: the plan's, and the license's own. */
export const Features = z.record(z.string().regex(featureName), z.union([z.boolean(), z.int().min(0)]));
export type Features = Readonly<z.infer<typeof Features>>;

/** As a plan or a license has them: no more than so many, since certificates travel in a header. */
export const OwnFeatures = Features.refine(
  (features) => Object.keys(features).length <= mostFeatures,
  `at most ${mostFeatures} features`,
);

/** For people: `export, seats 5, no api`. */
export const featureWords = (features: Features): string =>
  Object.entries(features)
    .map(([name, value]) =>
      value === true ? name : value === false ? `no ${name}` : `${name} ${String(value)}`,
    )
    .join(', ') || 'none';
