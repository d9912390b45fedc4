/**
 * Returns whether the policy allows this address. An empty list allows all. Domains are compared whole, in
 * any case.
 */
export const isAllowedAddress = (email: string, allowedDomains: readonly string[]): boolean =>
  allowedDomains.length === 0 ||
  allowedDomains.some(
    (domain) => domain.toLowerCase() === email.slice(email.lastIndexOf('@') + 1).toLowerCase(),
  );
