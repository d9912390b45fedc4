export const dates = {
  reference: {
    sha256: '7e028ea551e117e37f702e3ec27fbffa2ee53f0a797f9b9cf0d0101d7ca97b0f',
    since: '2026-11-22',
  },
  'reference/deliveryExecutions': {
    sha256: 'f9381592c312b053fa626dc218ec6e59504f1aaa51cf0d21feeef6a514acc14a',
    since: '2026-11-22',
  },
  'reference/deliveryGroups': {
    sha256: '711fdd4cde4603341fb6ba5f65b7852bb7b2ebe7362df8008537157e3b8a2e63',
    since: '2026-11-22',
  },
  'reference/agents': {
    sha256: 'ccfca2f07663a1475efdab9a32e447854a832f99cdd855af955fa7dcbb88553a',
    since: '2026-11-22',
  },
  'reference/agents.catalog': {
    sha256: '3c82eaba22d712b36186d5ee8a3322efc9569e71cdeae63aeb46b0734d7da934',
    since: '2026-11-22',
  },
  'reference/locks': {
    sha256: 'd14a593b7c9b03f36e4b3903b6ae89b20fbafc221b2c1e52310322f83e3674c0',
    since: '2026-11-22',
  },
  'reference/session': {
    sha256: 'f817bb7c3deb2048c77f56aadb365825d5457a482e56cb9391129cccbc1e26e9',
    since: '2026-11-22',
  },
  'reference/orgs': {
    sha256: '5f6b6d3bd137c805f8acfcc76bb1f657c921d25f934381fc882b893fa3e4e2c7',
    since: '2026-11-22',
  },
  'reference/members': {
    sha256: '6bbca8afc97d26387d407469fbde43e037abfc86568a58a3b0e4f82851efe762',
    since: '2026-11-22',
  },
  'reference/invitations': {
    sha256: '6e55aee2731ea1f8c7684c73a534e95e50a270a788446fac7e90e519c7284fd3',
    since: '2026-11-22',
  },
  'reference/policy': {
    sha256: 'e50c06ce1cc1e1f2bbd8916437dd688ff0dc30bda397d71e921a554b119bd77d',
    since: '2026-11-22',
  },
  'reference/teams': {
    sha256: '49f72e108b09b6097409d3b13bc2174576731946291a6f9f0d5c5fd4daf15bf2',
    since: '2026-11-22',
  },
  'reference/teams.members': {
    sha256: 'e98dcca854e00f51998b004cd0d8c2cd239e13ca5cb6e6017d4ecc579f30b910',
    since: '2026-11-22',
  },
  'reference/teams.projects': {
    sha256: '2a839819839941f5c2df90a85195c0edf1a641d36db568ffa614b1e40173bb11',
    since: '2026-11-22',
  },
  'reference/devices': {
    sha256: '855fc0eb1c41437050c64e5b3f99362ec2d70953da142ffaaa54b41e2903da32',
    since: '2026-11-22',
  },
  'reference/projects': {
    sha256: '457e11c81208a08f263f84eb64b3ee6511d49214c15e862ccccc764677066c1e',
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
    sha256: '18c577144d0466cb6b5f971c521a36bdc1f88d65ad3d1d0ac49a8e7ee0d213b4',
    since: '2026-11-22',
  },
  'reference/epics': {
    sha256: '2b04f1e6b94710b96b24241c1471b18dcd35c5bb8e35e0a1235908cafa717289',
    since: '2026-11-22',
  },
  'reference/stories': {
    sha256: '8c58bfed61e8245c0935508346c6e1caf9bdb4e5e8542a594a196ebdfc4ba7ec',
    since: '2026-11-22',
  },
  'reference/storySpec': {
    sha256: 'bcc8938e3028ca81eafe2045679fd7014be0a2801fc199509dd98488d799c452',
    since: '2026-11-22',
  },
  'reference/storyCollaboration': {
    sha256: 'f150edf70a1dfa6fee3eb2491fdb08c77b69041d864092fc2b2849126db80554',
    since: '2026-11-22',
  },
  'reference/comments': {
    sha256: 'e58a79223278265a746c48568d8dad0f9142b1209e9143b9ad66b79edbb2636f',
    since: '2026-11-22',
  },
  'reference/assignments': {
    sha256: 'c06e9f2109fe9944add842060631d501bde18e795ef22d7324d672653aba7b0c',
    since: '2026-11-22',
  },
  'reference/reviewers': {
    sha256: 'f38c9f558fb6259cc722c44dced54a03395c9b4c01351e94dceba35f9bbef66b',
    since: '2026-11-22',
  },
  'reference/prompts.org': {
    sha256: 'c550bae87ed0340356eabc4b3387fde16d4c802aa84a0e3688b51db264b95e89',
    since: '2026-11-22',
  },
  'reference/prompts.project': {
    sha256: 'ed839c32288d77df4e548c465b0b3217c6d9c6cc35152a90e5bb1ac60e045950',
    since: '2026-11-22',
  },
  'reference/contracts': {
    sha256: 'b2936aa84413744cd7f0a898b454607d64416d47569d93624ea1a760f5bad511',
    since: '2026-11-22',
  },
  'reference/activity': {
    sha256: 'c9c0143cef7990e2a4a0adccb6ab95cc06e9e7fee707e42295fe3ba5d99dbcd7',
    since: '2026-11-22',
  },
  'reference/audit': {
    sha256: 'f09c50f2883a733fe2681c8380d9780cbe54f134207f9f92c71e833ea5ec5102',
    since: '2026-11-22',
  },
  'reference/broadcasts': {
    sha256: '2330edeb66f4cd9519d1930d17d85cf95553a7ba35b6b852b89ccdb02863eb50',
    since: '2026-11-22',
  },
  'reference/notifications': {
    sha256: 'c9148ba5c8f0328bcf53d000e98eed72fa79dfbd1c43aed3e786530905b7b1af',
    since: '2026-11-22',
  },
  'reference/gamification': {
    sha256: '89957707776534d822f25929fb5166b77865fe7f1bd0a46a05b2d684c5a45025',
    since: '2026-11-22',
  },
  'reference/billing': {
    sha256: 'db521f6722d96969e4cd6cfc6850fdd7585332f7acfea536e888a087fad76a9a',
    since: '2026-11-22',
  },
  'reference/admin.platform': {
    sha256: '007df8b02a63c1ca729f4d09b2304a7b64076ceec5bbbd003cb2dfae639bfdeb',
    since: '2026-11-22',
  },
  'reference/records': {
    sha256: 'b2866007c2507e9b24230aee64d273e7eac89d5238743517551cbd654ba8f7b9',
    since: '2026-11-22',
  },
  'reference/errors': {
    sha256: '126e9a883d85cce0cb2419698a3f622a788e3881af0bbfaf8ec8cbd6b3857757',
    since: '2026-11-22',
  },
  'reference/events': {
    sha256: 'e881c9cc86450105eef2c477b3456ad64068035aa6b55af3aaec0bae5487794e',
    since: '2026-11-22',
  },
};
