/** The features of a license as in its certificate: signed, and readable without the service. */
export type Features = Readonly<Record<string, boolean | number>>;

/** Returns the features in a payload that are switches or numbers. Values of other types are left out. */
export const parseFeatures = (value: unknown): Features =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).filter(
          (entry): entry is [string, boolean | number] =>
            typeof entry[1] === 'boolean' || (Number.isSafeInteger(entry[1]) && Number(entry[1]) >= 0),
        ),
      )
    : {};

export interface Entitlements {
  readonly features: Features;
  /** Returns true if the feature is on, or its number is at least one. */
  readonly has: (feature: string) => boolean;
  /** Returns the number of a feature, or null if the license has no number for it. */
  readonly limit: (feature: string) => number | null;
}

export function entitlementsOf(features: Features): Entitlements {
  const valueOf = (name: string): boolean | number | undefined =>
    Object.hasOwn(features, name) ? features[name] : undefined;
  return {
    features,
    has: (feature) => Boolean(valueOf(feature)),
    limit: (feature) => {
      const value = valueOf(feature);
      return typeof value === 'number' ? value : null;
    },
  };
}
