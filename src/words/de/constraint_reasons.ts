// Why a constraint on answers cannot be enforced, in German.

import type { Reasons } from '../language';

export const constraintReasons: Reasons = {
  "The {0} of the schema's {1} is not {2}.": '{0} bei {1} im Schema ist {2}.',
  'a list': 'keine Liste',
  'an object': 'kein Objekt',
  'a list of names': 'keine Liste von Namen',
  'a text': 'kein Text',
  'a number': 'keine Zahl',
  'a list of schemas': 'keine Liste von Schemas',
  'one of {0}': 'keiner von {0}',
  'a whole number from 0': 'keine ganze Zahl ab 0',
  'a whole number from 1 to {0}': 'keine ganze Zahl von 1 bis {0}',
  'The $ref of the schema\'s {0} names nothing in this schema. Use a pointer such as "#/$defs/name".':
    '$ref bei {0} im Schema nennt nichts in diesem Schema. Nehmen Sie einen Zeiger wie "#/$defs/name".',
  "The schema's {0} allows other properties beside a name of more than {1} letters. Forbid them.":
    '{0} im Schema erlaubt weitere Eigenschaften neben einem Namen von mehr als {1} Zeichen. Verbieten Sie sie.',
  "The schema's {0} has the format {1}, which is not enforced here. Use one of {2}, or a pattern.":
    '{0} im Schema hat das Format {1}, das hier nicht erzwungen wird. Nehmen Sie eines von {2} oder ein Muster.',
  "The schema's {0} is nested deeper than {1} levels. Flatten it.":
    '{0} im Schema ist tiefer als {1} Ebenen verschachtelt. Machen Sie es flacher.',
  "The schema's {0} is not a schema.": '{0} im Schema ist kein Schema.',
  'oneOf of {0} is enforced as anyOf: a value may fit more than one of its schemas.':
    'oneOf bei {0} gilt wie anyOf: Ein Wert darf zu mehreren seiner Schemas passen.',
  "The schema's {0} has the keyword {1}, which is not enforced here.":
    '{0} im Schema hat das Schlüsselwort {1}, das hier nicht erzwungen wird.',
  "The schema's {0} has the keyword {1} beside {2}, which is not enforced here.":
    '{0} im Schema hat das Schlüsselwort {1} neben {2}, was hier nicht erzwungen wird.',
  '{0} Leave it out, or say it in another way.': '{0} Lassen Sie es weg, oder sagen Sie es anders.',
  'The schema is no JSON.': 'Das Schema ist kein JSON.',
  'The schema is longer than {0} letters. Use a smaller one.':
    'Das Schema ist länger als {0} Zeichen. Nehmen Sie ein kleineres.',
  'The schema is nested deeper than {0} levels. Flatten it.':
    'Das Schema ist tiefer als {0} Ebenen verschachtelt. Machen Sie es flacher.',
  '{0} is longer than {1} letters. Use a shorter one.': '{0} ist länger als {1} Zeichen. Nehmen Sie etwas Kürzeres.',
  'The pattern of {0}': 'Das Muster von {0}',
  '{0} cannot be used: it {1} (at letter {2}).': '{0} ist so nicht brauchbar: Es {1} (bei Zeichen {2}).',
  'has an escape without {0} hexadecimal digits': 'hat ein Escape ohne {0} hexadezimale Ziffern',
  'repeats more than {0} times': 'wiederholt öfter als {0}-mal',
  'repeats at least as often as it may not': 'wiederholt mindestens so oft, wie es nicht darf',
  'has a ) without a (': 'hat eine ) ohne (',
  'has something behind a $': 'hat etwas hinter einem $',
  'has a ^ that does not begin an alternative, which is not enforced here':
    'hat ein ^, mit dem keine Alternative beginnt, was hier nicht erzwungen wird',
  'has a {0} with nothing to repeat': 'hat ein {0}, vor dem nichts zu wiederholen ist',
  'looks around with (?, which is not enforced here': 'blickt mit (? voraus oder zurück, was hier nicht erzwungen wird',
  'nests more than {0} groups': 'verschachtelt mehr als {0} Gruppen',
  'has a $ inside a group, which is not enforced here': 'hat ein $ in einer Gruppe, was hier nicht erzwungen wird',
  'has a ( without a )': 'hat eine ( ohne )',
  'has a [ without a ]': 'hat eine [ ohne ]',
  'has a range in [] that does not ascend': 'hat in [] einen Bereich, der nicht aufsteigt',
  'has the escape \\{0}, which is not enforced here': 'hat das Escape \\{0}, das hier nicht erzwungen wird',
  'has an escape that is no code point': 'hat ein Escape, das kein Zeichen benennt',
  'The constraint has more than {0} different sets of letters. Use fewer of them.':
    'Die Vorgabe hat mehr als {0} verschiedene Zeichenmengen. Nehmen Sie weniger davon.',
  'The constraint takes too much work to prepare. Use a smaller or simpler one.':
    'Die Vorgabe vorzubereiten kostet zu viel Arbeit. Nehmen Sie eine kleinere oder einfachere.',
  '{0} begins with itself, so that it has no first letter. Rewrite it.':
    '{0} beginnt mit sich selbst und hat deshalb kein erstes Zeichen. Schreiben Sie es um.',
  'The constraint has more than {0} parts. Use a smaller one.':
    'Die Vorgabe hat mehr als {0} Teile. Nehmen Sie eine kleinere.',
  '{0} has alternatives that begin alike for too long: where {1} begins, one letter does not tell which of them it is. Make them differ early, or leave one out.':
    '{0} hat Alternativen, die zu lange gleich beginnen: Wo {1} beginnt, sagt ein Zeichen nicht, welche es ist. Lassen Sie sie früher verschieden sein, oder lassen Sie eine weg.',
  '{0} is too large. Use smaller bounds or fewer parts.':
    '{0} ist zu groß. Nehmen Sie engere Grenzen oder weniger Teile.',
  'The constraint needs {0} states, and may have {1}. Use a smaller one.':
    'Die Vorgabe braucht {0} Zustände und darf {1} haben. Nehmen Sie eine kleinere.',
  '{0} begins with too many rules inside one another. Join some of them.':
    '{0} beginnt mit zu vielen Regeln ineinander. Fassen Sie einige zusammen.',
  '{0} needs more than {1} states. Use smaller bounds or fewer parts.':
    '{0} braucht mehr als {1} Zustände. Nehmen Sie engere Grenzen oder weniger Teile.',
  'No document fits the constraint: it forbids everything, or it contains itself without an end.':
    'Kein Dokument passt zur Vorgabe: Sie verbietet alles, oder sie enthält sich selbst ohne Ende.',
  '{0} may end or go on with the same letter, so that one letter does not tell. Write what follows it so that it begins differently.':
    '{0} kann mit demselben Zeichen enden oder weitergehen, sodass ein Zeichen nicht entscheidet. Lassen Sie das, was folgt, anders beginnen.',
};
