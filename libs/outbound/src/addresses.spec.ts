import { describe, expect, it } from '@jest/globals';
import {
  type AllowedDestination,
  destinationOf,
  parseNetworks,
  addressRefusalReason,
  urlRefusalReason,
} from './addresses.ts';

const httpsDestination: AllowedDestination = { protocol: 'https:', port: 443 };
const none = parseNetworks('');

/** Addresses that requests must not go to, grouped by the reason. */
const forbiddenAddresses: Readonly<Record<string, readonly string[]>> = {
  'this machine': [
    '127.0.0.1',
    '127.255.255.254',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '017700000001',
    '::1',
  ],
  'this network': ['0.0.0.0', '0.1.2.3', '::'],
  'private networks': [
    '10.0.0.1',
    '10.255.255.255',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '192.168.1.1',
    '192.168.255.255',
  ],
  'unique local addresses': ['fc00::1', 'fd12:3456:789a::1', 'fdff:ffff::1'],
  'link-local ones': [
    '169.254.0.1',
    '169.254.169.254',
    '169.254.170.2',
    'fe80::1',
    'febf::1',
    'fe80::1%eth0',
  ],
  'metadata of clouds': ['100.100.100.200', '192.0.0.192', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'],
  'carriers’ networks': ['100.64.0.1', '100.127.255.254'],
  'special uses': [
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
  ],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  'the future, and everybody': ['240.0.0.1', '255.255.255.255'],
  'IPv4 mapped into IPv6': ['::ffff:127.0.0.1', '::ffff:a00:1', '::ffff:169.254.169.254', '::ffff:c0a8:1'],
  'IPv4-compatible': ['::127.0.0.1', '::a00:1', '::a9fe:a9fe'],
  'IPv4-translated': ['::ffff:0:10.0.0.1', '::ffff:0:7f00:1'],
  NAT64: [
    '64:ff9b::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a00:1',
    '64:ff9b:1:2:3:4:c0a8:1',
  ],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1', '2002:a9fe:a9fe::1', '2002:c0a8:101::'],
  Teredo: ['2001:0:4136:e378:8000:63bf:80ff:fffe', '2001::f5ff:fffe'],
  ISATAP: [
    '2606:4700::5efe:10.0.0.1',
    '2606:4700::200:5efe:c0a8:1',
    'fe80::5efe:a00:1',
    'fe80::5efe:10.0.0.1',
  ],
  'documentation and tests': [
    '2001:db8::1',
    '3fff::1',
    '2001:2::1',
    '100::1',
    '2001:10::1',
    '5f00::1',
    'fec0::1',
  ],
  'what was given to no one': ['4000::1', '1::1', 'e000::1'],
  'what is no address': ['', 'none', 'localhost', '1.2.3.4.5', '300.1.1.1', 'example.com'],
};

describe('nothing is sent to', () => {
  it.each(Object.entries(forbiddenAddresses))('%s', (_what, addresses) => {
    const allowed = addresses.filter(
      (address) => addressRefusalReason(address, httpsDestination, none) === null,
    );
    expect(allowed).toEqual([]);
  });

  it('is said of more than sixty addresses', () => {
    expect(Object.values(forbiddenAddresses).flat().length).toBeGreaterThanOrEqual(60);
  });

  it('metadata, link-local and multicast, whatever networks were named around them', () => {
    const everything = parseNetworks('0.0.0.0/0:*,::/0:*');
    const never = [
      ...['0.0.0.0', '0.1.2.3', '169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe'],
      ...[
        '2002:a9fe:a9fe::1',
        '100.100.100.200',
        '192.0.0.192',
        '168.63.129.16',
        'fd00:ec2::254',
        'fd20:ce::254',
      ],
      ...['fe80::1', 'ff02::1', '224.0.0.1', '255.255.255.255', '::'],
    ];
    expect(
      never.filter((address) => addressRefusalReason(address, httpsDestination, everything) === null),
    ).toEqual([]);
    expect(addressRefusalReason('10.0.0.1', httpsDestination, everything)).toBeNull();
  });
});

describe('what is sent to', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '140.82.121.4',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2606:50c0:8000::153',
    '2a00:1450::1',
    '::ffff:8.8.8.8',
    '::ffff:140.82.121.4',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ])('%s, of the internet', (address) => {
    expect(addressRefusalReason(address, httpsDestination, none)).toBeNull();
    expect(addressRefusalReason(address, { ...httpsDestination, port: 8443 }, none)).toBeNull();
    expect(addressRefusalReason(address, { ...httpsDestination, port: 6379 }, none)).toContain('port 6379');
    expect(addressRefusalReason(address, { ...httpsDestination, port: 22 }, none)).toContain('port 22');
    expect(addressRefusalReason(address, { protocol: 'http:', port: 80 }, none)).toContain('http');
  });

  it('are networks that the operator named, at the ports that go with them, also by another spelling', () => {
    const named = parseNetworks('10.0.0.0/8, 127.0.0.0/8:*,[fd00:1::]/32:3000, 192.168.1.7/32:8080');
    const may = (address: string, port: number, protocol: AllowedDestination['protocol'] = 'http:') =>
      addressRefusalReason(address, { protocol, port }, named) === null;
    expect([80, 443, 8443].every((port) => may('10.1.2.3', port))).toBe(true);
    expect(may('10.1.2.3', 443, 'https:')).toBe(true);
    expect([3000, 5432, 6379, 8080, 22].some((port) => may('10.1.2.3', port))).toBe(false);
    expect(may('::ffff:10.1.2.3', 80)).toBe(true);
    expect([may('127.0.0.1', 41_234), may('127.0.0.1', 3000)]).toEqual([true, true]);
    expect([may('fd00:1::5', 3000), may('fd00:1::5', 3001), may('fd00:2::5', 3000)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([may('192.168.1.7', 8080), may('192.168.1.8', 8080)]).toEqual([true, false]);
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/64',
    'a/8',
    'acme.example/8',
    '10.0.0.0/8:0',
    '10.0.0.0/8:70000',
    '10.0.0.0/8:http',
  ])('is not said by %s', (text) => {
    expect(() => parseNetworks(text)).toThrow(text);
  });
});

describe('a URL', () => {
  it.each([
    'https://hooks.acme.example/x',
    'https://hooks.acme.example:8443/x?y=z',
    'https://github.com/x',
    'https://1.1.1.1/x',
    'https://[2606:4700::1111]/',
  ])('that may be sent to: %s', (url) => {
    expect(urlRefusalReason(url, none)).toBeNull();
  });

  it.each([
    'http://hooks.acme.example/',
    'http://github.com/',
    'https://hooks.acme.example:6379/',
    'https://ana:secret@hooks.acme.example/',
    'https://a:b@github.com/',
    'https://hooks.acme.example/#x',
    'https://github.com/#x',
    'https://127.0.0.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://017700000001/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://169.254.169.254/latest/meta-data/',
  ])('that may not: %s', (url) => {
    expect(urlRefusalReason(url, none)).toEqual(expect.any(String));
  });

  it('of a name may have any port and http only where some network may', () => {
    const named = parseNetworks('10.0.0.0/8');
    expect(urlRefusalReason('http://ci.internal/hook', named)).toBeNull();
    expect(urlRefusalReason('http://ci.internal:3000/hook', named)).toEqual(expect.any(String));
    expect(urlRefusalReason('http://git.internal:3000/', parseNetworks('[fd00::]/8:3000'))).toBeNull();
  });

  it('says where it goes', () => {
    expect(destinationOf('https://[::1]:8443/x')).toEqual({
      protocol: 'https:',
      port: 8443,
      host: '::1',
      isAddress: true,
    });
    expect(destinationOf('http://a.example')).toMatchObject({
      port: 80,
      host: 'a.example',
      isAddress: false,
    });
  });
});
