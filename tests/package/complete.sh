# Prints what bash would complete the last word to: complete.sh FILE VERB WORD
source "$1"
COMP_WORDS=(memduel "$2" "$3")
COMP_CWORD=2
_memduel
echo "${COMPREPLY[*]}"
