/** Letters that look like Latin letters, in pairs. No maintained library has the table of Unicode TR39. */
const LOOK_ALIKE = new Map(
  [
    'АAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅSԌGҮYЕE',
    'аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝwѵvкkмmгrпnӏl',
    'ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϹCϳj',
    'αaεeηnιiκkνvοoρpτtυuχxωwϲc',
    'օoսuհhոnցgյjզqԱU',
    'ɑaɡgɩiıiȷjʟlʀrʏyᴏoꞮI',
  ]
    .join('')
    .match(/../gu)
    ?.map((pair) => [pair.charAt(0), pair.charAt(1)]),
);

const ASCII = /^[ -~]*$/;

/**
 * Returns a skeleton (Unicode TR39, section 4), which is equal for names that look alike. Ignores case, spaces,
 * punctuation, accents and invisible characters.
 */
export function skeletonOf(name: string): string {
  const latin = ASCII.test(name)
    ? name.toLowerCase().replaceAll(/[^a-z0-9|!]/g, '')
    : name
        .normalize('NFKD')
        .replaceAll(/[^\0-\x7F]/gu, (letter) => LOOK_ALIKE.get(letter) ?? letter)
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}|!]/gu, '');
  return latin
    .replaceAll(/[i1|!]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}
