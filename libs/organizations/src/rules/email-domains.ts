/** Whether the policy lets this address in: an empty list lets in every one. Domains are matched whole, in any case. */
export const isAllowedAddress = (email: string, allowedDomains: readonly string[]): boolean =>
  allowedDomains.length === 0 ||
  allowedDomains.some(
    (domain) => domain.toLowerCase() === email.slice(email.lastIndexOf('@') + 1).toLowerCase(),
  );
