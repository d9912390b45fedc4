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
    sha256: '8b0275e5b9b8e7df4eb1129d3f4fef402f0b9d7cef9eac8372e298ed85d74831',
    since: '2026-11-23',
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
    sha256: '793bf76c75cb667b5110e305cc5ab674bb8d67bc145ed4daf32a8a34ad3c21de',
    since: '2026-11-23',
  },
  'reference/members': {
    sha256: 'cffb1ca220af9b3774ec81638ed7e0533e1c5d7c2130e9b07d7e9a32c5f07bd8',
    since: '2026-11-23',
  },
  'reference/invitations': {
    sha256: 'f418f014cff5a6b1436ef875ed7b0c6af4c3145c30dcd0ba70f202633021672b',
    since: '2026-11-23',
  },
  'reference/policy': {
    sha256: '794859b053334fbccd79f9686fe6ed9a44e28bfa93efc076bd284b26f9f67241',
    since: '2026-11-23',
  },
  'reference/teams': {
    sha256: '811ec88f09c09262af83294a0cb10c6518372498e0c4004c0df6d66f796eeaea',
    since: '2026-11-23',
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
    sha256: '25dce0d5979550b04c3e68b1681ef424de34695f04d6852c40dfb3c97949c4e9',
    since: '2026-11-23',
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
    sha256: 'd08cec6c299d2f626c31caa611c9a142214d97fa8cac8aba0580b6930133f6d6',
    since: '2026-11-23',
  },
  'reference/stories': {
    sha256: '119858ace2830d810c6f9a5c3be132bab2bf9de2a644d1c5c0858e019dcae041',
    since: '2026-11-23',
  },
  'reference/storySpec': {
    sha256: '16cccaeb804b0ff9f0f3e5f684049606768d5bf3103a3aef858dd98ea6dd36b1',
    since: '2026-11-23',
  },
  'reference/storyCollaboration': {
    sha256: '3c2c9eba35382a1cc6db62c2abcedf64805c7e9e5b442f08a80c01b3d3856bb5',
    since: '2026-11-23',
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
    sha256: '9773a5930a4012039223227148d6af32be7ccf44251177a273c7f1c8ff2aa12d',
    since: '2026-11-23',
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
    sha256: 'c839b889e1eb91fc9d2ec4004f5fd308ac5c0fc7e8465e731a603bb47b507d12',
    since: '2026-11-23',
  },
  'reference/records': {
    sha256: '29b2b6f79a1058f41b2d947a50ffba37bdc0e0f7df494450d296cc28825986f3',
    since: '2026-11-23',
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
