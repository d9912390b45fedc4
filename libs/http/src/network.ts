import ipaddr from 'ipaddr.js';

/**
 * Returns the network that an address counts as: an IPv4 address itself, or the /64 of an IPv6 address, which
 * is the usual assignment of one customer.
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const bytes = parsed.toByteArray().map((byte, index) => (index < 8 ? byte : 0));
  return `${ipaddr.fromByteArray(bytes).toString()}/64`;
}
