import { describe, expect, it } from '@jest/globals';
import { parseNetworks, refusedAddress, refusedUrl } from './addresses.ts';

const https = { protocol: 'https:', port: 443 } as const;
const named = parseNetworks('10.0.0.0/8,127.0.0.0/8:*,[fd00::]/8:3000');

describe('an address', () => {
  it.each([
    ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', '0.0.0.0', '169.254.169.254'],
    ...[
      '::1',
      '::',
      'fe80::1',
      'fd00::1',
      '::ffff:127.0.0.1',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
    ],
    ...['2001:db8::1', 'fe80::5efe:10.0.0.1', '224.0.0.1', '255.255.255.255', '198.18.0.1', 'none'],
  ])('of no public network is refused: %s', (address) => {
    expect(refusedAddress(address, https, [])).not.toBeNull();
  });

  it.each(['140.82.121.4', '2606:50c0:8000::153', '::ffff:140.82.121.4'])(
    'of the internet is open: %s',
    (address) => {
      expect(refusedAddress(address, https, [])).toBeNull();
    },
  );

  it('of the internet is reached by https alone, at its ports', () => {
    expect(refusedAddress('140.82.121.4', { protocol: 'http:', port: 80 }, [])).toMatch(/http/);
    expect(refusedAddress('140.82.121.4', { protocol: 'https:', port: 22 }, [])).toMatch(/port 22/);
  });

  it('of a network that the operator named is open, at the ports that were named', () => {
    expect(refusedAddress('10.1.2.3', https, named)).toBeNull();
    expect(refusedAddress('10.1.2.3', { protocol: 'http:', port: 3000 }, named)).not.toBeNull();
    expect(refusedAddress('127.0.0.1', { protocol: 'http:', port: 3000 }, named)).toBeNull();
    expect(refusedAddress('fd00::1', { protocol: 'http:', port: 3000 }, named)).toBeNull();
  });

  it('of the metadata of a cloud is never open', () => {
    const all = parseNetworks('0.0.0.0/0:*,::/0:*');
    for (const address of ['169.254.169.254', '168.63.129.16', 'fd00:ec2::254', '::ffff:169.254.169.254'])
      expect(refusedAddress(address, https, all)).not.toBeNull();
  });
});

describe('a URL', () => {
  it.each([
    'https://a:b@github.com/',
    'https://github.com/#x',
    'https://127.0.0.1/',
    'https://[::1]/',
    'http://github.com/',
  ])('is refused before its name is looked up: %s', (url) => {
    expect(refusedUrl(url, [])).not.toBeNull();
  });

  it('is taken where its name may lead to an open address', () => {
    expect(refusedUrl('https://github.com/x', [])).toBeNull();
    expect(refusedUrl('http://git.internal:3000/', named)).toBeNull();
  });
});

it('names of networks that are none are a fault of the configuration', () => {
  for (const text of ['10.0.0.0', '10.0.0.0/64', 'a/8', '10.0.0.0/8:0'])
    expect(() => parseNetworks(text)).toThrow();
});
