export const dates = {
  reference: {
    sha256: '7e028ea551e117e37f702e3ec27fbffa2ee53f0a797f9b9cf0d0101d7ca97b0f',
    since: '2026-11-22',
  },
  'reference/deliveryExecutions': {
    sha256: 'bc85afae408da4edbc2960c76a6cd6614029ea40ba1cc43ed7b0b9bf54db51fe',
    since: '2026-11-22',
  },
  'reference/deliveryGroups': {
    sha256: '91416722acc58dad7067d7da34357a7e623d0b7e1e7b1e3ed4e70443baa28285',
    since: '2026-11-22',
  },
  'reference/agents': {
    sha256: 'fa5333305094ad9d8600ce2e748fe247811302bae6a4c0665ec42e476ad99c98',
    since: '2026-11-22',
  },
  'reference/agents.catalog': {
    sha256: '1dbb45abbd07775c023ec433b726834d9b4e3d45e02a2774fd2504f13928e6da',
    since: '2026-11-22',
  },
  'reference/locks': {
    sha256: 'be3378abcb2aaaae93b488553c4cd0c56409f537c06792ee0a97645908d8666c',
    since: '2026-11-22',
  },
  'reference/session': {
    sha256: 'f817bb7c3deb2048c77f56aadb365825d5457a482e56cb9391129cccbc1e26e9',
    since: '2026-11-22',
  },
  'reference/orgs': {
    sha256: 'a52bfcc5575e5b9fd516a4b02ba409587c8c603d81de5e9801783be2a4eed0c5',
    since: '2026-11-22',
  },
  'reference/members': {
    sha256: '55661fa2d3f5de22eb56f3d38174454dfa19d2830c8cc1c8da91a1629f2aaccf',
    since: '2026-11-22',
  },
  'reference/invitations': {
    sha256: '488a62ecd05b2563191345078c499cef63ca1429cd88a60a0fbb5a7497c7d383',
    since: '2026-11-22',
  },
  'reference/policy': {
    sha256: 'a4b4e927d19a56fc3805df4aaf5ab88e1d3eb96c04190ea27a135b3367f4ab6f',
    since: '2026-11-22',
  },
  'reference/teams': {
    sha256: 'a9cb95aa123cb93a5fb2f92635f456c6e8663202f3b398292bcfa50732f611c8',
    since: '2026-11-22',
  },
  'reference/teams.members': {
    sha256: '4dea327c55f5ed55ebbdd45c63ad7ba53345641a8fde9f9736bfced6632d1e98',
    since: '2026-11-22',
  },
  'reference/teams.projects': {
    sha256: '2a839819839941f5c2df90a85195c0edf1a641d36db568ffa614b1e40173bb11',
    since: '2026-11-22',
  },
  'reference/devices': {
    sha256: 'd07badc0464372c539d835977ecdf642e490734bbff79a9aa38cabcbfb182d7b',
    since: '2026-11-22',
  },
  'reference/projects': {
    sha256: '9ce3463e0c334e4f4a0a90ef906e657fb786880c4aef5ff7f78e8783764b3a20',
    since: '2026-11-22',
  },
  'reference/projects.members': {
    sha256: '1140d2cf474e1fae7198a5de6569c7175117b94e960ebc1c2fd5956b120af67b',
    since: '2026-11-22',
  },
  'reference/projects.teams': {
    sha256: 'e000db108d4c737037dbe1216457f2ed9837ccd117462a51df9dc0d0a38ae596',
    since: '2026-11-22',
  },
  'reference/projects.accessRequests': {
    sha256: '76873bf21437b4597743b5a83722c0fec51bd805e2c9b864a1df1fdad90483ca',
    since: '2026-11-22',
  },
  'reference/boardColumns': {
    sha256: '7aa4236d787acb940a25237f0e2d5aab702a08e5fc9fe7702ff862f83095556c',
    since: '2026-11-22',
  },
  'reference/epics': {
    sha256: '30ece973eb0d1a1196a80aa27c18d5741649a8fc98f35e70268c7d4ecd698594',
    since: '2026-11-22',
  },
  'reference/stories': {
    sha256: 'cd48fcaa514bd44a637beae1c8f460e95e920e2c95d07d6ab7955dfded627b9b',
    since: '2026-11-22',
  },
  'reference/storySpec': {
    sha256: 'e1c942b7d71353be9a916073a474e45266a3a8b71b8db7b7ef99983f930452e2',
    since: '2026-11-22',
  },
  'reference/storyCollaboration': {
    sha256: 'f150edf70a1dfa6fee3eb2491fdb08c77b69041d864092fc2b2849126db80554',
    since: '2026-11-22',
  },
  'reference/comments': {
    sha256: '0b0ff0a431c8870e223ad2fee4f9593ff78228c75dd6729e05d404c8d27d1301',
    since: '2026-11-22',
  },
  'reference/assignments': {
    sha256: '1b409a4a4db3891c30035de76fd70cbfdd03bb2da584aab5337e1b46a715de13',
    since: '2026-11-22',
  },
  'reference/reviewers': {
    sha256: '060ecca71ce514e88c8fc761ef4d85b5138b19fa92f1677965708bb785551656',
    since: '2026-11-22',
  },
  'reference/prompts.org': {
    sha256: 'eb3472779ff5a7057395b66cfb9bb14b4a53f997c1ff4172cd0333f4e42682ed',
    since: '2026-11-22',
  },
  'reference/prompts.project': {
    sha256: 'e8f3ac111a89a21cf49075cdfc25d2d051b37e54b89ad0c02d9268311b013459',
    since: '2026-11-22',
  },
  'reference/contracts': {
    sha256: '8e3eefb731ba167d61ba2af32b3134c8f65c9c927f99eb7086f36ca9233d11c4',
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
    sha256: '7b318076da12e831ab35ec02bdc3a74b6e9ad702b41754e4861a0f4b3b8e0a50',
    since: '2026-11-22',
  },
  'reference/notifications': {
    sha256: '05d40a2764a181da9355af22c9cbd9ced855902ef3afab5aadc6b711af0553fc',
    since: '2026-11-22',
  },
  'reference/gamification': {
    sha256: '6cb43ec534e4e029503df6b800fbd2cbc905cac5105dcd5f19d4a45cd8a5b849',
    since: '2026-11-22',
  },
  'reference/billing': {
    sha256: '2da5bb3e0245f0f78f9b3827154258eb2ea2781a52bf2cf7b0d74481a91b8111',
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
