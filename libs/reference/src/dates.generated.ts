export const dates = {
  reference: {
    sha256: '8376793a6717a3cedf9c6d55231aa146f9fac815b3d2ed9a6d054e50d5a95069',
    since: '2026-11-23',
  },
  'reference/deliveryExecutions': {
    sha256: '578531d28629676cbfb188b63472390db349d47df7adc7eff3f0fa3d3bc74ac9',
    since: '2026-11-22',
  },
  'reference/deliveryGroups': {
    sha256: 'd0bac4d86aeb24667a0112341bbd65a1c6ba1603762fe9a4aaa40555040fc601',
    since: '2026-11-22',
  },
  'reference/agents': {
    sha256: 'ccfca2f07663a1475efdab9a32e447854a832f99cdd855af955fa7dcbb88553a',
    since: '2026-11-22',
  },
  'reference/agents.catalog': {
    sha256: '22608c142658a6798f33ae886dbd50de06b5dda07d68eb3c0ba526a6db5128e2',
    since: '2026-11-22',
  },
  'reference/locks': {
    sha256: '2057c3d5f645687af54ccf60c09771b1012a06fb7965accdc6dfee77c5ca30b1',
    since: '2026-11-22',
  },
  'reference/session': {
    sha256: '54c84c6614729ab43d558f29e3e8073e449925ddfdea0a64ebd0c9c152fb795a',
    since: '2026-11-22',
  },
  'reference/orgs': {
    sha256: '755c96cf5391e7990d7d1bde0bfa818e66a9f1e617f5147377a80027668e40b2',
    since: '2026-11-22',
  },
  'reference/members': {
    sha256: 'bb423c84f36edfc839c5120f9ed3f9b326c16864ffdb27d86ef5fd72ccf21057',
    since: '2026-11-22',
  },
  'reference/invitations': {
    sha256: 'c380bf67fdc6c97d460244e25e2c2916f0fc37a1d3f0179686e7a82cf1edb4e2',
    since: '2026-11-22',
  },
  'reference/policy': {
    sha256: 'ded40e99df5768e88c4bc2eaa75f81b8c8e7b00ba15ebe0587a948765aa299cf',
    since: '2026-11-22',
  },
  'reference/teams': {
    sha256: '369b1378eb0fc43b4d2cb5f6e834bce8d396b5877bdc633f83d87a1b4bde9cd6',
    since: '2026-11-22',
  },
  'reference/teams.members': {
    sha256: '386918709711ef93a74f82a21078b67810e6eeab759ec3f14dc7f71fbeb9e74f',
    since: '2026-11-22',
  },
  'reference/teams.projects': {
    sha256: '2a839819839941f5c2df90a85195c0edf1a641d36db568ffa614b1e40173bb11',
    since: '2026-11-22',
  },
  'reference/devices': {
    sha256: '3691e96b625bd896d45c1ebaef86762e7f328298bb4ce5a8c6fa77c0d179fc28',
    since: '2026-11-22',
  },
  'reference/projects': {
    sha256: '3966c81f51e9d8943046e8908c10059ea96b128be615bdfc172d17a333863660',
    since: '2026-11-22',
  },
  'reference/projects.members': {
    sha256: '6673308e202d5336ae6beba3ba047161586e0cc7ec309b926e3c50c857b88194',
    since: '2026-11-22',
  },
  'reference/projects.teams': {
    sha256: 'e000db108d4c737037dbe1216457f2ed9837ccd117462a51df9dc0d0a38ae596',
    since: '2026-11-22',
  },
  'reference/projects.accessRequests': {
    sha256: 'fb8ee0c13cbd67d9c4eb1658d58aaa9963a67edda28133fa17cc9df19cb990cd',
    since: '2026-11-22',
  },
  'reference/boardColumns': {
    sha256: '9774c8a83ad7df60568f2ef7f6a09061abfb55d2eb7a03072fbc67e1a51f517f',
    since: '2026-11-22',
  },
  'reference/epics': {
    sha256: '2b04f1e6b94710b96b24241c1471b18dcd35c5bb8e35e0a1235908cafa717289',
    since: '2026-11-22',
  },
  'reference/stories': {
    sha256: '1e44476beba0c866b840c5c5964caf16390f4428986f04b7c4739e11b11916a0',
    since: '2026-11-22',
  },
  'reference/storySpec': {
    sha256: 'bcc8938e3028ca81eafe2045679fd7014be0a2801fc199509dd98488d799c452',
    since: '2026-11-22',
  },
  'reference/storyCollaboration': {
    sha256: 'b616b6e34e4febfbb0755139c8e130f1d15a519b70e75d5cec02eb380e57b857',
    since: '2026-11-22',
  },
  'reference/comments': {
    sha256: '63a27e81f2792056d78476e7a6686f5177239d8f4e9b35e718e2897c0c18f4b2',
    since: '2026-11-22',
  },
  'reference/assignments': {
    sha256: 'c06e9f2109fe9944add842060631d501bde18e795ef22d7324d672653aba7b0c',
    since: '2026-11-22',
  },
  'reference/reviewers': {
    sha256: '68b7838b4b2b493fe91da7c5f5920a5c3f144c8ec6854171f70209c2de4bfd98',
    since: '2026-11-22',
  },
  'reference/prompts.org': {
    sha256: 'bb0b8bd01d620b10f500ac4d6011291ab79c564c58bf467f5a379c39f051359e',
    since: '2026-11-22',
  },
  'reference/prompts.project': {
    sha256: '6465a296078204f9f35c4d3f532c7e30db5c5c42783b5be31e5c4271c443074b',
    since: '2026-11-22',
  },
  'reference/contracts': {
    sha256: '92bacde11e40a57c3898eb22cce6d5a9c89245634219a4132f447720abd4381d',
    since: '2026-11-22',
  },
  'reference/activity': {
    sha256: 'c9c0143cef7990e2a4a0adccb6ab95cc06e9e7fee707e42295fe3ba5d99dbcd7',
    since: '2026-11-22',
  },
  'reference/events': {
    sha256: 'b4acde1f77e3ad01b7511cec4e46ed8cc37fbdf085459fe2b6360d118e4550eb',
    since: '2026-11-23',
  },
  'reference/audit': {
    sha256: '374a4a5637c6092d5a892139b199e671dd13abaa9c69aadec76983be58ac1092',
    since: '2026-11-22',
  },
  'reference/broadcasts': {
    sha256: 'eb0e769351ec0bc26c0f599747d517bc5bd2806b1f1c97bb954ac9195c4085ab',
    since: '2026-11-22',
  },
  'reference/notifications': {
    sha256: 'db017e0c69ad2fd3914e1ac7a2fd4948d017fa62c62c342452b0c38a69fb065d',
    since: '2026-11-22',
  },
  'reference/gamification': {
    sha256: '2873fb2b0e9eef2f2052011d71bc16da6c4af74a226eab0ec8f3649f1b92eac0',
    since: '2026-11-22',
  },
  'reference/billing': {
    sha256: '06eeccb9c1f5cda41f357ac6be6675ed73f0dbb407c70e4ceba1dedc1d59f8ba',
    since: '2026-11-22',
  },
  'reference/admin.platform': {
    sha256: '3b839e17b475714d07d5a94d6490267bbdfe3130252a81a73dc1133eb07235e3',
    since: '2026-11-22',
  },
  'reference/records': {
    sha256: 'f44a0fa10c30edfd9a6412cd817ff4faed6d4c930df3f3ab50a2034fe4063bf3',
    since: '2026-11-23',
  },
  'reference/errors': {
    sha256: '716f336a7d77f59d94804584996de1d061cdd1da020017f098821a29e8916fcf',
    since: '2026-11-23',
  },
  'reference/event-kinds': {
    sha256: '4d34e506fecee331aa6b1c712dc6ca7cf5eb716c3f06d097de7b09c8e3ff4254',
    since: '2026-11-23',
  },
};
