# Two robots learn in two places, one is corrected, and then they share what they know.
# docs/photos.md tells the story. Run it in an empty folder, with newfound[vision] and scikit-image:
#
#     bash path/to/examples/two_robots.sh

set -euo pipefail
views() { python "$(dirname "${BASH_SOURCE[0]}")/views.py" "$@"; }

echo "# One robot learns three things in the kitchen."
views kitchen mug=coffee.png cat=chelsea.png coins=coins.png
newfound teach kitchen.newfound kitchen/

echo "# It is shown a scooter, which it has never seen; three photos later it knows it."
views shown scooter=motorcycle_left.png --views 3
newfound predict kitchen.newfound shown/scooter/00.jpg
newfound teach kitchen.newfound shown/scooter/*.jpg --as scooter
views other scooter=motorcycle_left.png --views 2 --seed 1
newfound predict kitchen.newfound other/scooter/*.jpg

echo "# Someone says that a cat is a mug, and takes it back; forgets the coins, and thinks better of it."
views wrong cat=chelsea.png --views 1 --seed 2
newfound teach kitchen.newfound wrong/cat/00.jpg --as mug
newfound forget kitchen.newfound wrong/cat/00.jpg --as mug
newfound teach kitchen.newfound wrong/cat/00.jpg --as cat
newfound forget-class kitchen.newfound coins
newfound undo kitchen.newfound

echo "# Another robot learns in the garage, and both share what they know."
views garage rocket=rocket.jpg scooter=motorcycle_right.png --views 6
newfound teach garage.newfound garage/
newfound merge kitchen.newfound garage.newfound -o house.newfound
newfound inspect house.newfound

echo "# The result, on views that neither has seen."
views test mug=coffee.png cat=chelsea.png coins=coins.png scooter=motorcycle_left.png \
    rocket=rocket.jpg --views 8 --seed 3
newfound evaluate house.newfound test/

echo "# And on things that neither has seen."
views strange person=astronaut.png camera=camera.png page=page.png --views 8
newfound evaluate house.newfound test/ --unknown strange/ --roc roc.png
