/**
 * The rules for requests to addresses that users name; no other module has such rules. The rules for an
 * address that embeds another address (IPv4-mapped IPv6, NAT64, 6to4 …) are those of the embedded address.
 * Public addresses are reached at the ports of https only. Other addresses are reached only if the operator
 * named their network. Some addresses are never reached, because services there treat every caller as the
 * machine itself.
 */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type CidrRange = readonly [Address, number];

/** A network that the operator named, with the ports that may be reached there. */
export interface AllowedNetwork {
  readonly range: CidrRange;
  readonly ports: readonly number[] | 'any';
}

export interface AllowedDestination {
  readonly protocol: 'http:' | 'https:';
  readonly port: number;
}

const publicPorts = [443, 8443];
const defaultAllowedPorts = [80, ...publicPorts];

/**
 * IPv6 networks whose addresses embed an IPv4 address in four bytes. `at` is the index of the first of these
 * four bytes, and `inverted` means that all bits of the IPv4 address are inverted.
 */
const embeddingNetworks: readonly {
  readonly range: CidrRange;
  readonly at: number;
  readonly inverted?: true;
}[] = [
  { range: ipaddr.parseCIDR('::ffff:0:0/96'), at: 12 },
  // IPv4-compatible and IPv4-translated addresses: obsolete, but some systems still support them.
  { range: ipaddr.parseCIDR('::/96'), at: 12 },
  { range: ipaddr.parseCIDR('::ffff:0:0:0/96'), at: 12 },
  // NAT64: the well-known prefix, and the prefix for private networks.
  { range: ipaddr.parseCIDR('64:ff9b::/96'), at: 12 },
  { range: ipaddr.parseCIDR('64:ff9b:1::/48'), at: 12 },
  // 6to4, and Teredo, which inverts all bits of the client's address.
  { range: ipaddr.parseCIDR('2002::/16'), at: 2 },
  { range: ipaddr.parseCIDR('2001::/32'), at: 12, inverted: true },
];

/**
 * The bytes that mark an ISATAP address in the lower half of an IPv6 address of any network. The IPv4 address
 * follows them.
 */
const isatapMarker = [0x00, 0x00, 0x5e, 0xfe];

/** Networks that are never reached, even if the operator named a network that contains them. */
const forbiddenNetworks: readonly CidrRange[] = [
  ...['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32'],
  // Metadata services of clouds outside the link-local range: Alibaba, Oracle, Azure, and with IPv6 AWS and
  // Google.
  ...['100.100.100.200/32', '192.0.0.192/32', '168.63.129.16/32', 'fd00:ec2::/32', 'fd20:ce::/32'],
  ...['::/128', 'fe80::/10', 'ff00::/8'],
].map((network) => ipaddr.parseCIDR(network));

/** The only range of IPv6 that is allocated for the internet. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

const isInNetwork = (address: Address, [network, bits]: CidrRange): boolean =>
  address.kind() === network.kind() && address.match(network, bits);

/** Returns the address that is really reached, without the IPv6 address that embeds it. */
export function unwrapEmbeddedAddress(address: Address): Address {
  if (address.kind() === 'ipv4' || isInNetwork(address, ipaddr.parseCIDR('::/127'))) return address;
  const bytes = address.toByteArray();
  const carrier = embeddingNetworks.find(({ range }) => isInNetwork(address, range));
  if (carrier !== undefined) {
    const carried = bytes.slice(carrier.at, carrier.at + 4);
    return ipaddr.fromByteArray(carrier.inverted === true ? carried.map((byte) => 255 - byte) : carried);
  }
  // The first byte of the marker tells whether the address is globally unique (2) or not (0). Both values
  // mark an ISATAP address.
  const marked = isatapMarker.every(
    (byte, index) => (bytes[8 + index] ?? 0) === byte || (index === 0 && bytes[8] === 2),
  );
  return marked ? ipaddr.fromByteArray(bytes.slice(12)) : address;
}

/** Returns the reason why the address must not be reached, or null if it may be. */
export function addressRefusalReason(
  ipAddress: string,
  { protocol, port }: AllowedDestination,
  networks: readonly AllowedNetwork[],
): string | null {
  if (!ipaddr.isValid(ipAddress)) return 'an invalid IP address';
  const address = unwrapEmbeddedAddress(ipaddr.parse(ipAddress));
  if (forbiddenNetworks.some((range) => isInNetwork(address, range)))
    return 'an address that Muster never sends to';
  const isNamed = networks.some(
    ({ range, ports }) => isInNetwork(address, range) && (ports === 'any' || ports.includes(port)),
  );
  if (isNamed) return null;
  const isPublic =
    address.range() === 'unicast' && (address.kind() === 'ipv4' || isInNetwork(address, globalUnicast));
  if (!isPublic) return 'an address outside the public internet';
  if (protocol !== 'https:') return 'plain http outside the networks that the operator allowed';
  return publicPorts.includes(port) ? null : `port ${port}, although only 443 and 8443 are allowed`;
}

/**
 * Parses a comma-separated list of networks: `10.0.0.0/8,127.0.0.0/8:*,[fd00::]/8:3000`. Each may have one
 * port, or `*` for all ports; the default is 80, 443 and 8443. Throws if an entry is not a network.
 */
export function parseNetworks(text: string): AllowedNetwork[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, network = '', bits = '', port] =
        /^\[?([0-9a-fA-F.:]+?)\]?\/(\d{1,3})(?::(\d{1,5}|\*))?$/.exec(part) ?? [];
      if (!ipaddr.isValidCIDR(`${network}/${bits}`))
        throw new Error(`${part} is not a network such as 10.0.0.0/8`);
      const range = ipaddr.parseCIDR(`${network}/${bits}`);
      if (port === undefined) return { range, ports: defaultAllowedPorts };
      if (port === '*') return { range, ports: 'any' };
      if (Number(port) < 1 || Number(port) > 65_535) throw new Error(`${part} has no valid port`);
      return { range, ports: [Number(port)] };
    });
}

/** Parses the destination of a URL. The brackets of an IPv6 address are removed from the host. */
export function destinationOf(
  url: string,
): AllowedDestination & { readonly host: string; readonly isAddress: boolean } {
  const { protocol, port, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error('not an http(s) URL');
  return {
    protocol,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    host,
    isAddress: ipaddr.isValid(host),
  };
}

/**
 * Returns the problem of a URL that is visible without a DNS lookup, or null. The addresses of a host name
 * are checked when a request is sent.
 */
export function urlRefusalReason(url: string, networks: readonly AllowedNetwork[]): string | null {
  const { username, password, hash } = new URL(url);
  if (username !== '' || password !== '') return 'must not have a user name or password';
  if (hash !== '') return 'must not have a fragment';
  const destination = destinationOf(url);
  if (destination.isAddress) {
    const refused = addressRefusalReason(destination.host, destination, networks);
    return refused === null ? null : `points to ${refused}`;
  }
  if (destination.protocol === 'https:' && publicPorts.includes(destination.port)) return null;
  const { port } = destination;
  return networks.some(({ ports }) => ports === 'any' || ports.includes(port))
    ? null
    : 'must be https on port 443 or 8443, or in a network that the operator named';
}
