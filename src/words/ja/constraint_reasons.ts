// Why a constraint on answers cannot be enforced, in Japanese.

import type { Reasons } from '../language';

export const constraintReasons: Reasons = {
  "The {0} of the schema's {1} is not {2}.": 'スキーマの {1} の {0} が{2}ではありません。',
  'a list': 'リスト',
  'an object': 'オブジェクト',
  'a list of names': '名前のリスト',
  'a text': '文字列',
  'a number': '数値',
  'a list of schemas': 'スキーマのリスト',
  'one of {0}': '{0} のいずれか',
  'a whole number from 0': '0 以上の整数',
  'a whole number from 1 to {0}': '1 から {0} までの整数',
  'The $ref of the schema\'s {0} names nothing in this schema. Use a pointer such as "#/$defs/name".':
    'スキーマの {0} の $ref は、このスキーマの中の何も指していません。"#/$defs/name" のようなポインターを使ってください。',
  "The schema's {0} allows other properties beside a name of more than {1} letters. Forbid them.":
    'スキーマの {0} は、{1} 文字を超える名前のほかにもプロパティを許しています。ほかのプロパティを禁止してください。',
  "The schema's {0} has the format {1}, which is not enforced here. Use one of {2}, or a pattern.":
    'スキーマの {0} の format {1} は、ここでは強制できません。{2} のいずれか、または pattern を使ってください。',
  "The schema's {0} is nested deeper than {1} levels. Flatten it.":
    'スキーマの {0} の入れ子が {1} 段を超えています。浅くしてください。',
  "The schema's {0} is not a schema.": 'スキーマの {0} はスキーマではありません。',
  'oneOf of {0} is enforced as anyOf: a value may fit more than one of its schemas.':
    '{0} の oneOf は anyOf として扱われます。値が複数のスキーマに合うことがあります。',
  "The schema's {0} has the keyword {1}, which is not enforced here.":
    'スキーマの {0} のキーワード {1} は、ここでは強制できません。',
  "The schema's {0} has the keyword {1} beside {2}, which is not enforced here.":
    'スキーマの {0} で {2} と並ぶキーワード {1} は、ここでは強制できません。',
  '{0} Leave it out, or say it in another way.': '{0}取り除くか、別の書き方にしてください。',
  'The schema is no JSON.': 'スキーマが JSON ではありません。',
  'The schema is longer than {0} letters. Use a smaller one.':
    'スキーマが {0} 文字を超えています。小さくしてください。',
  'The schema is nested deeper than {0} levels. Flatten it.':
    'スキーマの入れ子が {0} 段を超えています。浅くしてください。',
  '{0} is longer than {1} letters. Use a shorter one.': '{0} が {1} 文字を超えています。短くしてください。',
  'The pattern of {0}': '{0} の pattern',
  '{0} cannot be used: it {1} (at letter {2}).': '{0} は使えません: {1}({2} 文字目)。',
  'has an escape without {0} hexadecimal digits': '{0} 桁の 16 進数がないエスケープがあります',
  'repeats more than {0} times': '繰り返しが {0} 回を超えています',
  'repeats at least as often as it may not': '繰り返しの下限が上限を超えています',
  'has a ) without a (': '( のない ) があります',
  'has something behind a $': '$ の後ろに続きがあります',
  'has a ^ that does not begin an alternative, which is not enforced here':
    '選択肢の先頭にない ^ は、ここでは強制できません',
  'has a {0} with nothing to repeat': '{0} の前に繰り返すものがありません',
  'looks around with (?, which is not enforced here': '(? による先読みや後読みは、ここでは強制できません',
  'nests more than {0} groups': 'グループの入れ子が {0} 段を超えています',
  'has a $ inside a group, which is not enforced here': 'グループの中の $ は、ここでは強制できません',
  'has a ( without a )': ') のない ( があります',
  'has a [ without a ]': '] のない [ があります',
  'has a range in [] that does not ascend': '[] の範囲が昇順ではありません',
  'has the escape \\{0}, which is not enforced here': 'エスケープ \\{0} は、ここでは強制できません',
  'has an escape that is no code point': 'エスケープが文字を表していません',
  'The constraint has more than {0} different sets of letters. Use fewer of them.':
    '制約に異なる文字集合が {0} 個を超えて含まれています。減らしてください。',
  'The constraint takes too much work to prepare. Use a smaller or simpler one.':
    'この制約は準備に手間がかかりすぎます。小さく、または単純にしてください。',
  '{0} begins with itself, so that it has no first letter. Rewrite it.':
    '{0} がそれ自身で始まるため、最初の文字がありません。書き換えてください。',
  'The constraint has more than {0} parts. Use a smaller one.':
    '制約の部分が {0} 個を超えています。小さくしてください。',
  '{0} has alternatives that begin alike for too long: where {1} begins, one letter does not tell which of them it is. Make them differ early, or leave one out.':
    '{0} の選択肢は、始まりが同じ部分が長すぎます。{1} の始まりで、1 文字ではどれか決まりません。早く違いが出るようにするか、1 つ減らしてください。',
  '{0} is too large. Use smaller bounds or fewer parts.':
    '{0} が大きすぎます。範囲を狭めるか、部分を減らしてください。',
  'The constraint needs {0} states, and may have {1}. Use a smaller one.':
    '制約には {0} 個の状態が必要ですが、使えるのは {1} 個までです。小さくしてください。',
  '{0} begins with too many rules inside one another. Join some of them.':
    '{0} の始まりで規則の入れ子が深すぎます。いくつかをまとめてください。',
  '{0} needs more than {1} states. Use smaller bounds or fewer parts.':
    '{0} には {1} 個を超える状態が必要です。範囲を狭めるか、部分を減らしてください。',
  'No document fits the constraint: it forbids everything, or it contains itself without an end.':
    'この制約に合う文書がありません。すべてを禁じているか、終わりなくそれ自身を含んでいます。',
  '{0} may end or go on with the same letter, so that one letter does not tell. Write what follows it so that it begins differently.':
    '{0} は同じ文字で終わることも続くこともあり、1 文字では決まりません。後に続くものの始まりを変えてください。',
};
