/** The features of a license: named switches or numbers. */
import { z } from 'zod';

export type Feature = boolean | number;

const mostFeatures = 32;
const longestName = 32;

export const featureName = new RegExp(`^[a-z][a-z0-9_-]{0,${longestName - 1}}$`);

/** The features of a certificate: those of the plan, overridden by the license's own. */
export const LicenseFeatures = z.record(
  z.string().regex(featureName),
  z.union([z.boolean(), z.int().min(0)]),
);
export type LicenseFeatures = Readonly<z.infer<typeof LicenseFeatures>>;

/** The features of a plan or license. Their number is limited, because certificates are sent in a header. */
export const OwnFeatures = LicenseFeatures.refine(
  (features) => Object.keys(features).length <= mostFeatures,
  `at most ${mostFeatures} features`,
);

/** Formats features for people, such as `export, seats 5, no api`. */
export const featureWords = (features: LicenseFeatures): string =>
  Object.entries(features)
    .map(([name, value]) =>
      value === true ? name : value === false ? `no ${name}` : `${name} ${String(value)}`,
    )
    .join(', ') || 'none';
