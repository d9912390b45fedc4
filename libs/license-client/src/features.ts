/** What a license lets people do, as its certificate says it: signed, and known without the service. */
export type Features = Readonly<Record<string, boolean | number>>;

/** Those of a payload that can be read; what is of another kind is left out, and so is not there. */
export const featuresIn = (value: unknown): Features =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).filter(
          (entry): entry is [string, boolean | number] =>
            typeof entry[1] === 'boolean' || (Number.isSafeInteger(entry[1]) && Number(entry[1]) >= 0),
        ),
      )
    : {};

export interface Entitled {
  readonly features: Features;
  /** Whether it is on, or there is at least one of it. */
  readonly has: (feature: string) => boolean;
  /** How many; null where the license says no number. */
  readonly limit: (feature: string) => number | null;
}

export function entitledTo(features: Features): Entitled {
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
