export const dates = {
  reference: {
    sha256: '3d71f0fa874d55567dea8c17f866c7944e907390840c49ed6efb5798a2e5db71',
    since: '2026-11-23',
  },
  'reference/deliveryExecutions': {
    sha256: 'c59bd353b814720b7119c951a233dae387c7775294d1ecad046d0d650af43f0a',
    since: '2026-11-23',
  },
  'reference/deliveryGroups': {
    sha256: '9eaaa1fc8d6b7a3229e5f7b5fce9f48b266ddd8a84b256d9a1ddacdcc5155159',
    since: '2026-11-23',
  },
  'reference/agents': {
    sha256: 'e27ff6e2c2c0033e99875d018cff4c86ae996caa0b33f2b90ab12e1a26c68989',
    since: '2026-11-23',
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
  'reference/sessions': {
    sha256: 'a7c1d6af391ab62ef0891777e4563ee5b5d64151a7e4d21ba42fa22afaa8ed34',
    since: '2026-11-23',
  },
  'reference/tokens': {
    sha256: 'eb904c1eb63458ffb0e12de5e7a869f3dfecd5b16a5d90fd60567e16ad2f780d',
    since: '2026-11-23',
  },
  'reference/orgs': {
    sha256: '986e39aae56d72e46a16d6604f779fb9b42d60cd2319b135a285cdc85f643904',
    since: '2026-11-23',
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
    sha256: '61b5b0e7b32ec2d44b7d7855dd08d8f1f975c0361ba5bcb81bce2e98ebcf0df7',
    since: '2026-11-23',
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
    sha256: 'db17756a4548e9a78f65bc4e8062f81fe248c19c77f6eae1e774d09e5e447cd1',
    since: '2026-11-23',
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
    sha256: '58a342fb275c033352ebe462b68add972600e853465f05e335c4e04b792c2605',
    since: '2026-11-23',
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
  'reference/search': {
    sha256: 'ed9799c1ff45331fec7c5a44a9325fa277c9b77e8f8406a6e910463922eeb255',
    since: '2026-11-23',
  },
  'reference/imports': {
    sha256: '52ae683799e184e460e66f624478d514fca7dacecf89941746a136a5921c2cc1',
    since: '2026-11-23',
  },
  'reference/activity': {
    sha256: '52504103aebb8c2e9047eafd7df10e69cc45843179c010404fc828c6e48f30ef',
    since: '2026-11-23',
  },
  'reference/events': {
    sha256: '867bf4c25e89025398b96b043a3342174bdf54a0af89189b60f93891ad38e487',
    since: '2026-11-23',
  },
  'reference/forges': {
    sha256: '135c5e044bd1c37879ecd3cf5a12bf685bba04ec207d61f7bf5452b46705b4ab',
    since: '2026-11-23',
  },
  'reference/forges.repositories': {
    sha256: 'c24d166644519dfd6c99ef3cc7a90f7475ec80b9cce208175b857e9259ded8e0',
    since: '2026-11-23',
  },
  'reference/forges.deliveries': {
    sha256: 'f8e42260129d68c076e61bb932f0f9c25d14a6ec876a2d343ddc1438361beca2',
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
    sha256: '827ff333f419545a70eaf63d4d8bde05a01607657a216bf1dd9128bde7b17487',
    since: '2026-11-23',
  },
  'reference/webhooks': {
    sha256: '925e64320ea1c1802fe55185bd8574d6625e03db9817499b048ca915deef6ff7',
    since: '2026-11-23',
  },
  'reference/webhooks.deliveries': {
    sha256: '1cefeafbd083837a211e86666a179ff7d33f21ef14cc0f57d8835cd9ffa28b66',
    since: '2026-11-23',
  },
  'reference/gamification': {
    sha256: '2873fb2b0e9eef2f2052011d71bc16da6c4af74a226eab0ec8f3649f1b92eac0',
    since: '2026-11-22',
  },
  'reference/billing': {
    sha256: 'b28f58af4cba8f92e1babcb6185045b85a198c2b4a3ecff4f422b9e961fa7b4c',
    since: '2026-11-23',
  },
  'reference/admin.platform': {
    sha256: '3b839e17b475714d07d5a94d6490267bbdfe3130252a81a73dc1133eb07235e3',
    since: '2026-11-22',
  },
  'reference/records': {
    sha256: '7c160a4c981f76fd20f7ecd5c7829d03e6a1724e2a405065d227c925b5c7d7c8',
    since: '2026-11-23',
  },
  'reference/errors': {
    sha256: 'bb09ac18acc46852276de8a311a30062927f8e9f9f85791174c6b7be0ce53780',
    since: '2026-11-23',
  },
  'reference/event-kinds': {
    sha256: 'd203a53489b98d5f15efbc12fa280e388184388fb9920751e09b6381e80bed9d',
    since: '2026-11-23',
  },
};
