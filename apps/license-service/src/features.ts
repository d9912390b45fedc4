/** The features of a license: named switches or numbers. */
import { z } from 'zod';

export type Feature = boolean | number;

const maxFeatures = 32;
const maxFeatureNameLength = 32;

export const featureNamePattern = new RegExp(`^[a-z][a-z0-9_-]{0,${maxFeatureNameLength - 1}}$`);

/** The features of a certificate: those of the plan, overridden by the license's own. */
export const LicenseFeatures = z.record(
  z.string().regex(featureNamePattern),
  z.union([z.boolean(), z.int().min(0)]),
);
export type LicenseFeatures = Readonly<z.infer<typeof LicenseFeatures>>;

/** The features of a plan or license. Their number is limited, because certificates are sent in a header. */
export const OwnFeatures = LicenseFeatures.refine(
  (features) => Object.keys(features).length <= maxFeatures,
  `at most ${maxFeatures} features`,
);

/** Formats features for people, such as `export, seats 5, no api`. */
export const formatFeatures = (features: LicenseFeatures): string =>
  Object.entries(features)
    .map(([name, value]) =>
      value === true ? name : value === false ? `no ${name}` : `${name} ${String(value)}`,
    )
    .join(', ') || 'none';
