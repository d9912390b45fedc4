export const dates = {
  reference: {
    sha256: '6a3a84990ff60d0af41db828d25c7766c3e85f7c96a3de8f428d6254d21f4188',
    since: '2026-11-23',
  },
  'reference/deliveryExecutions': {
    sha256: 'f6c873aa30161269d3bddefd4c26b10b58e6a801bd3387062af4015df160271c',
    since: '2026-11-23',
  },
  'reference/deliveryGroups': {
    sha256: '6d397b28e4b29dc99926ba44bea96e3f7ce3c0145e2f33df9dc5301fc1363c19',
    since: '2026-11-23',
  },
  'reference/agents': {
    sha256: 'cff3095cf62718d53abee0f97f72a38fd8ba4fba045bb54dd6069a02f3a4ecfb',
    since: '2026-11-23',
  },
  'reference/agents.catalog': {
    sha256: '61b8e11b12bfcda32e5fafdd822ac382a80f552084df146d7d6fb97e65bd26cc',
    since: '2026-11-23',
  },
  'reference/locks': {
    sha256: '69133399f9a243176a31c0c4a35fe3215b73e63124454aa53be419cf59af1dd8',
    since: '2026-11-23',
  },
  'reference/session': {
    sha256: '95be05880c59f1cfb91f81e9bc7ef3b46c831c7b6bee72d387ef0425414269b5',
    since: '2026-11-26',
  },
  'reference/sessions': {
    sha256: '7382145991e60f4bd01d47c49b9b7933254fdfa5c73576a781ee7672b1a01808',
    since: '2026-11-23',
  },
  'reference/tokens': {
    sha256: '66cac493e9bda2c1b812f1168e22fe9ab5f465abd7eceb3195e7f43ef5c0f580',
    since: '2026-11-23',
  },
  'reference/connections': {
    sha256: '66344b00fd02fe849f5710750b92ce52d3965ae819fd63f03c04c4e49113f1e3',
    since: '2026-11-23',
  },
  'reference/passkeys': {
    sha256: '2e0a1307d9bf7e69c16fb51cab10092e2e8723f8c5fbe80be0602609b1152ee1',
    since: '2026-11-23',
  },
  'reference/identityProviders': {
    sha256: '9ff70536eab589e0610e3fbd527a5258b0e1911f9e32ff0ef8dd00951c2eb8b6',
    since: '2026-11-23',
  },
  'reference/orgs': {
    sha256: 'ed6f30b1db7b8f26d94854b4a84ddae64199934ad40fb96876713390b0166887',
    since: '2026-11-26',
  },
  'reference/members': {
    sha256: 'cffb1ca220af9b3774ec81638ed7e0533e1c5d7c2130e9b07d7e9a32c5f07bd8',
    since: '2026-11-23',
  },
  'reference/invitations': {
    sha256: 'c0b2faaa2d0240ad8960cdfdcd0526350e5035693d0f2a73c51e0a895d654251',
    since: '2026-11-26',
  },
  'reference/policy': {
    sha256: '794859b053334fbccd79f9686fe6ed9a44e28bfa93efc076bd284b26f9f67241',
    since: '2026-11-23',
  },
  'reference/teams': {
    sha256: 'b977ce821e0a4d955478b3ddb983c6d2005c9c3f3e199319c17cf087e5cb610e',
    since: '2026-11-26',
  },
  'reference/teams.members': {
    sha256: '851313f18aeb1af82f398d322a7ca4051214289539a03cb027af4877e671d007',
    since: '2026-11-23',
  },
  'reference/teams.projects': {
    sha256: 'fb08e8d45b1b73cd80866d535bf6d99818c8bca9786d4e896b66cf34d7f6834f',
    since: '2026-11-23',
  },
  'reference/devices': {
    sha256: '61a2f020eef8f8c1c632a4e82140f8d7438be5a152ebda57323e6dcbb7ffcd9a',
    since: '2026-11-23',
  },
  'reference/projects': {
    sha256: '825c41d2c259f46fb8b16082cb14afb9ef24a07b2c21c8b60d1d5c4e826c049c',
    since: '2026-11-26',
  },
  'reference/projects.members': {
    sha256: 'e6627d442071dbd16ef45ca525f7d9302ac07c16ccd6e650bc1062a968ea1027',
    since: '2026-11-23',
  },
  'reference/projects.teams': {
    sha256: '48eadd6b7e4579f475c8ea345dec25d3b50bb5d413ff84107dcbf3348f5dbd33',
    since: '2026-11-23',
  },
  'reference/projects.accessRequests': {
    sha256: '18982597d4fd98fd54c713acef9bbe61bb9f9111141a340e32863ac7f63ded4c',
    since: '2026-11-23',
  },
  'reference/boardColumns': {
    sha256: 'a7dc1c684a93211dea99b4541cbf50c2c3b0e9b4d75237fb2547a59acf1b1ed0',
    since: '2026-11-23',
  },
  'reference/epics': {
    sha256: '0abca79e848eeb1ffe3b58e1fd8849be638120aa6be3d26e78da3ef63add8432',
    since: '2026-11-26',
  },
  'reference/stories': {
    sha256: '9ef72e0915de18b21a2c25bf8039b0188187dc0c72542f372554842c4364e0ce',
    since: '2026-11-26',
  },
  'reference/storySpec': {
    sha256: '16cccaeb804b0ff9f0f3e5f684049606768d5bf3103a3aef858dd98ea6dd36b1',
    since: '2026-11-23',
  },
  'reference/storyCollaboration': {
    sha256: '35a4d88464070cc872de0941aaeaa496c58fec21940fce8ba77db5ba3b2294eb',
    since: '2026-11-26',
  },
  'reference/comments': {
    sha256: '5dec30ea589d025e99306c417b8e6639c1aa5b06871a3c908438f77ab5863504',
    since: '2026-11-23',
  },
  'reference/assignments': {
    sha256: '7adb0fdf0d34742d0ff6c629e6d18429b4e81f688f02550788f50a76f7bc3b9c',
    since: '2026-11-23',
  },
  'reference/reviewers': {
    sha256: '6c6b1407f929854ae3b0a691871cfb650b5562ab3c11d21527ebba2a474e5ff0',
    since: '2026-11-23',
  },
  'reference/prompts.org': {
    sha256: 'e8d8ce6efa9783ee93df0ee745badc14aed468b160eb4014ee624e2569922ccf',
    since: '2026-11-23',
  },
  'reference/prompts.project': {
    sha256: '750d64371d3c6d14f1b3645354932c23cc735cd7b355e68a1ef7bdb8ccb2d692',
    since: '2026-11-23',
  },
  'reference/contracts': {
    sha256: '181384f6f4fdef26a739bd7d16eafea551e66dde1dc7628d1a5e464c92f30a12',
    since: '2026-11-23',
  },
  'reference/search': {
    sha256: '8243c4269446871247130d5daeea5b7a89eb632042c714fd1c5489f34529e75e',
    since: '2026-11-23',
  },
  'reference/imports': {
    sha256: '32bbed9efa6977ddb92c2b6642ec7d1be709686f738c1c1d1f460b3d93f2d3e5',
    since: '2026-11-23',
  },
  'reference/activity': {
    sha256: '56fc81d0a37851311345806f541260e082f488e96fed1b1e8db185f04a3a113f',
    since: '2026-11-23',
  },
  'reference/events': {
    sha256: 'a9a748f2a0a2d39bafb358afba81a9a92bf759ceb12e89ea9802d060c42cc067',
    since: '2026-11-23',
  },
  'reference/forges': {
    sha256: '4bdbdae6b673edb53481331ae740f5728d1316fcfa54b6490b8343b83f39d0ea',
    since: '2026-11-23',
  },
  'reference/forges.repositories': {
    sha256: '086d38ae96791441440d92f26daf68be5ac7e72c22b1bd761a5d51c9ada6b237',
    since: '2026-11-23',
  },
  'reference/forges.deliveries': {
    sha256: '0fdea3ce0b7df2c5934b13b5853995fab1d2ebbd43fd56d63b3a5f22a6e3b402',
    since: '2026-11-23',
  },
  'reference/audit': {
    sha256: 'be3037f5741cbc34e3ae576c0baef56ed5802853cde1c69b9d80a38aa9b29150',
    since: '2026-11-23',
  },
  'reference/broadcasts': {
    sha256: '39ad1c80c4d665e893824803b6994538d49bbb7812252c67375d2394d78218e7',
    since: '2026-11-23',
  },
  'reference/notifications': {
    sha256: '75bd085a5ba904c1ed23931c380bf85bcbc1c96ad54c379d2be0c358d04ad435',
    since: '2026-11-23',
  },
  'reference/webhooks': {
    sha256: '090df6c6c5a763f4cedc61ca0277aa8aaad9300fc1b5c2faeed4fee4f2565d64',
    since: '2026-11-26',
  },
  'reference/webhooks.deliveries': {
    sha256: '64ff8d6b465159cbeab96e49a8ab3a3cf38a95092b468adf3fddb9bd020ace04',
    since: '2026-11-23',
  },
  'reference/gamification': {
    sha256: 'a9ead03e256322bb75cff8569685b4fc1490af57b563cf1d29453090f6c51c22',
    since: '2026-11-23',
  },
  'reference/billing': {
    sha256: '219020d37d775144024f635f2418ef33e5e2d4317366c8a8f8387aab533cfd30',
    since: '2026-11-23',
  },
  'reference/admin.platform': {
    sha256: '5a8778d7f62d795fb8c8c9efe019363ef33c2247354f3157c1b1f5aa9116e774',
    since: '2026-11-26',
  },
  'reference/records': {
    sha256: 'be38f2c326cdbffc14484eba004f4833bc0391e85cefe5a261a82f4a030901b6',
    since: '2026-11-26',
  },
  'reference/errors': {
    sha256: 'b153d85a6339acffb0ae31dcb5c17ef1d712cc63119892061435850259abbddd',
    since: '2026-11-24',
  },
  'reference/event-kinds': {
    sha256: 'd203a53489b98d5f15efbc12fa280e388184388fb9920751e09b6381e80bed9d',
    since: '2026-11-23',
  },
};
