import { describe, expect, it } from '@jest/globals';
import { parseRedisUrl } from './address.ts';

describe('an address of Redis', () => {
  it.each(['redis://cache', 'redis://:secret@cache:6380/2', 'rediss://ana:secret@cache:6380?family=6'])(
    'is one server: %s',
    (url) => {
      expect(parseRedisUrl(url)).toEqual({ kind: 'server', url });
    },
  );

  it('is a cluster where it has several hosts, each with its port or the usual one', () => {
    expect(parseRedisUrl('redis://ana:s%40cret@a:7001,b,[fd00::1]:7003')).toEqual({
      kind: 'cluster',
      hosts: [
        { host: 'a', port: 7001 },
        { host: 'b', port: 6379 },
        { host: 'fd00::1', port: 7003 },
      ],
      tls: false,
      ...{ username: 'ana', password: 's@cret' },
    });
  });

  it('is a cluster where it says so, by one host that knows the rest', () => {
    expect(parseRedisUrl('rediss+cluster://:secret@discovery.example')).toEqual({
      kind: 'cluster',
      hosts: [{ host: 'discovery.example', port: 6379 }],
      ...{ tls: true, password: 'secret' },
    });
  });

  it('is a group that sentinels watch, with its name, its database and a login for the sentinels', () => {
    expect(parseRedisUrl('redis+sentinel://:secret@a,b:5000/main/3?sentinelPassword=other')).toEqual({
      kind: 'sentinel',
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 5_000 },
      ],
      ...{ tls: false, password: 'secret', name: 'main', db: 3, sentinelPassword: 'other' },
    });
  });

  it.each([
    ['cache:6379', 'is not a Redis address'],
    ['http://cache', 'is not a Redis address'],
    ['redis://', 'is not a Redis address'],
    ['redis://secret@a@b', 'is not a Redis address'],
    ['redis://cache:70000', 'is not a valid Redis address'],
    ['redis://a:secret,b', 'a host that is not written'],
    ['redis://a,,b', 'a host that is not written'],
    ['redis://a,b:0', 'a host that is not written'],
    ['redis://secret%@a,b', 'a % that does not start an encoded character'],
    ['redis://a,b/1', 'a cluster has only the first one'],
    ['redis://a,b?secret=1', 'not supported for a cluster'],
    ['redis+sentinel://a,b', 'must name the Sentinel group'],
    ['redis+sentinel://a/main/secret', 'only a name and a database'],
    ['redis+sentinel://a/main?secret=1', 'other than sentinelUsername and sentinelPassword'],
  ])('is refused where it is none, without repeating it: %s', (url, why) => {
    expect(() => parseRedisUrl(url)).toThrow(why);
    expect(() => parseRedisUrl(url)).not.toThrow('secret');
  });
});
