"""The anchors of ``stopwords:k``: the most frequent words of some European languages (Theobald et al., SpotSigs, SIGIR 2008).

They are frequent in running text and rare in menus, link lists and adverts, so shingles that begin with one describe the article and not the page
around it.
"""

from __future__ import annotations

STOP_WORDS = """
    a an the and or but of in on at to for from by with as is are was were be been has have had do does did not
    that this these those it its he she his her they their we our you your which who will would can there
    der die das den dem des ein eine einen und oder in im zu von mit auf für ist sind war nicht sich auch
    le la les un une des et ou du au aux en dans pour par sur est sont qui que ne pas
    el los las una y o del al con por para es son se no
    il lo gli uno di da che è per
    os um uma do dos das na em não com
    de het een van en op te is dat niet
    и в во не на что с как это по из за от для
"""
