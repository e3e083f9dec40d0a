"""What a wiki page holds that is no part of its article: class names, ids and headings, in many languages."""

from __future__ import annotations

import re


def names(text: str) -> frozenset[str]:
    """A list of names written as one text."""
    return frozenset(text.split())


MAX_WALKED_DEPTH = 80  # of nested elements, one by one; what is deeper comes as plain text

SKIPPED_TAGS = names(
    """script style noscript link meta template svg iframe object embed applet nav form input button select textarea
    audio video map canvas head title col colgroup param source track picture base basefont frame frameset datalist
    dialog progress meter area"""
)

# Edit marks, reference marks and lists, navigation, maintenance boxes, hidden sort keys, pictures, footers:
# MediaWiki's own names, those of the larger Wikipedias' templates, and mwoffliner's of 2015 to 2026.
SKIPPED_CLASSES = names(
    """mw-editsection mw-editsection-like navbox navbox-styles vertical-navbox navbar navigation-box navbox-container
    NavContainer NavFrame sistersitebox side-box metadata ambox mbox-small noprint mw-jump-link toc tocright
    toclimit-3 reflist references references-small mw-references-wrap reference mw-ref mw-cite-backlink catlinks
    printfooter mw-empty-elt portalbox portal portal-bar mw-indicators Z3988 sortkey geo-nondefault geo-multi-punct
    geo-inline-hidden mw-kartographer-container mw-kartographer-map mw-kartographer-maplink authority-control
    mw-authority-control stub gallery thumb thumbinner magnify thumbcaption sidebar sidebar-list infobox-navigation
    succession-box bandeau-container bandeau-portail bandeau-article topicon mw-page-tools listing-sister-icons
    mw-ext-cite-error plainlinksneverexpand rellink-noprint shortdescription siteSub sister-project-links
    sister-links normdaten ilh-all ilh-lang box-more_citations_needed mw-parser-output-error mw-hidden-catlinks
    zim-footer ext-phonos-attribution ext-phonos-PhonosButton mw-collapsible-toggle NavToggle homonymie nomobile-only
    infobox-image infobox-navbar mw-mmv-wrapper vector-toc mw-portlet navigation-not-searchable-box
    mw-heading-edit cx-segment-block navigation_box boilerplate hatnote-dablink-icon dmbox disambigbox
    noexcerpt-navigation sr-only visually-hidden mw-a11y-hidden toc-mobile"""
)
DISAMBIGUATION_BOXES = names("dmbox disambigbox disambig-box")
REFERENCE_MARKS = names("reference mw-ref")
SKIPPED_CLASS_PREFIXES = ("bandeau-", "mw-kartographer", "mw-ui-icon", "navbox")
SKIPPED_IDS = names(
    """coordinates toc siteSub contentSub catlinks jump-to-nav mw-navigation footer mw-head mw-panel
    mw-hidden-catlinks Vorlage_Begriffsklaerungshinweis normdaten kiwix_searchform bandeau-portail p-lang"""
)
LICENCE_FOOTER_STYLE = "gradient(180deg, #E8E8E8"  # mwoffliner up to 1.13 gave it neither class nor id
HIDDEN_STYLE = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)

INFOBOX_IDS = ("Vorlage_Infobox",)
INFOBOX_CLASSES = names("taxobox biota vcard vevent infocaseta sinottico ficha toccolours-infobox")
HATNOTES = names("hatnote dablink rellink noteTA")

# Headings whose sections hold apparatus, not content. Those of other languages are told by what is in them:
# lists of citations and of links that lead out (see parse.py).
APPARATUS_HEADINGS = frozenset(
    """references|reference|notes|notes and references|references and notes|references and footnotes|citations
    footnotes|external links|external link|further reading|works cited
    notes et références|références|liens externes|notes et references
    einzelnachweise|weblinks|anmerkungen und einzelnachweise|anmerkungen|belege
    referencias|notas|enlaces externos|notas y referencias|note|collegamenti esterni|altri progetti
    referências|ligações externas|notas e referências|bronnen|externe links|externe link|noten
    bronnen, noten en/of referenties|przypisy|linki zewnętrzne|примечания|ссылки|примітки|посилання|зноскі|спасылкі
    参考文献|參考文獻|参考资料|參考資料|参考来源|參考來源|外部链接|外部連結
    注释|註釋|脚注|腳註|出典|外部リンク|각주|외부 링크
    مراجع|المراجع|وصلات خارجية|روابط خارجية|هوامش|הערות שוליים|קישורים חיצוניים|לקריאה נוספת
    kaynakça|dış bağlantılar|källor|externa länkar|lähteet|aiheesta muualla|viitteet|источники|jegyzetek
    további információk|poznámky|externí odkazy|reference|odkazy""".replace("\n", "|")
    .replace("|    ", "|")
    .split("|")
)
DISAMBIGUATION_TITLE = re.compile(
    r"\((disambiguation|begriffsklärung|homonymie|desambiguación|desambiguação|disambigua|doorverwijspagina|значения"
    r"|неоднозначность|消歧义|消歧義|曖昧さ回避|توضيح|פירושונים|ujednoznacznienie)\)\s*$",
    re.I,
)
DISAMBIGUATION_LEAD = re.compile(
    r"(may|can|might|could) (also |either |most commonly |commonly )*(refer to|mean|stand for)( [^.]{0,60})?:?\s*$"
    r"|ist der name:?\s*$|steht für:?\s*$|bezeichnet:?\s*$|peut (désigner|faire référence à)|puede (referirse|designar)"
    r"|pode referir-se|può riferirsi|может (означать|обозначать)|可以指|可能指|可以是指|に(は|つい)て.{0,20}曖昧さ回避",
    re.I,
)
SITE_SUFFIX = re.compile(
    r"\s+[-–—|]\s+[^-–—|]{0,30}(wikip|wiktion|wikib|википе|вікіпе|维基百科|維基百科|ויקיפדיה|ويكيبيديا)[^-–—|]*$", re.I
)
